package io.github.virtualthread.sample.lab.experiment;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.springframework.util.FileSystemUtils;

/** A folder for a program that is started here, deleted with all there is in it. */
record TemporaryFolder(Path path) implements AutoCloseable {

    /** Tells whose it is, should it be left by a JVM that was killed. */
    static final String PREFIX = "virtual-thread-lab-" + ProcessHandle.current().pid() + "-";

    static TemporaryFolder create(String name) {
        try {
            return new TemporaryFolder(Files.createTempDirectory(PREFIX + name));
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
