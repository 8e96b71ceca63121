package io.github.virtualthread.bench;

import io.github.virtualthread.bench.page.BenchReport.Jar;
import io.github.virtualthread.bench.page.BenchReport.Jar.Part;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;

/** Looks into the jar. */
final class JarSize {

    private JarSize() {}

    static Jar of(Path file) throws IOException {
        try (JarFile jar = new JarFile(file.toFile())) {
            List<? extends ZipEntry> files =
                    jar.stream().filter(entry -> !entry.isDirectory()).toList();
            Map<String, List<ZipEntry>> packages =
                    files.stream().collect(Collectors.groupingBy(JarSize::part, TreeMap::new, Collectors.toList()));
            List<Part> parts = new ArrayList<>();
            packages.forEach((name, entries) -> parts.add(new Part(
                    name,
                    entries.size(),
                    entries.stream().mapToLong(ZipEntry::getCompressedSize).sum())));
            long size = Files.size(file);
            parts.add(new Part(
                    "names of all files, twice, and their directory",
                    files.size(),
                    size - parts.stream().mapToLong(Part::bytes).sum()));
            return new Jar(size, files.stream().filter(JarSize::isClass).count(), parts);
        }
    }

    private static boolean isClass(ZipEntry entry) {
        return entry.getName().endsWith(".class");
    }

    private static String part(ZipEntry entry) {
        String name = entry.getName();
        return isClass(entry) ? name.substring(0, name.lastIndexOf('/')).replace('/', '.') : "everything else";
    }
}
