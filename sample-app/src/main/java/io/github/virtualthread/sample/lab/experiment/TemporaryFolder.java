package io.github.virtualthread.sample.lab.experiment;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.springframework.util.FileSystemUtils;

/** A folder for a program that is started here, deleted with all there is in it. */
record TemporaryFolder(Path path) implements AutoCloseable {

    static TemporaryFolder create(String name) {
        try {
            return new TemporaryFolder(Files.createTempDirectory("virtual-thread-lab-" + name));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    File file(String name) {
        return path.resolve(name).toFile();
    }

    @Override
    public void close() {
        try {
            FileSystemUtils.deleteRecursively(path);
        } catch (IOException failure) {
            throw new UncheckedIOException("Delete %s by hand".formatted(path), failure);
        }
    }
}
