package io.github.virtualthread.actuate;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.HotSpotDiagnosticMXBean.ThreadDumpFormat;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A thread dump that the JVM has written, readable once. */
final class ThreadDumpFile extends FilterInputStream {

    /** Tells whose it is, should it be left by a JVM that was killed. */
    static final String PREFIX = "virtualthreaddump-" + ProcessHandle.current().pid() + "-";

    /** Where the file was; a file that is open stays in its directory on some systems. */
    private final Path directory;

    private ThreadDumpFile(InputStream file, Path directory) {
        super(file);
        this.directory = directory;
    }

    /**
     * Has the JVM write a dump, which wants a file that does not exist: so each gets a directory, for its owner only where
     * the file system knows owners. The file has no name any more when this returns, or is gone when the stream is closed.
     */
    static InputStream write(ThreadDumpFormat format) throws IOException {
        return write(file -> ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                .dumpThreads(file, format));
    }

    static InputStream write(Dump dump) throws IOException {
        Path directory = newDirectory();
        Path file = directory.resolve("threads");
        try {
            dump.to(file.toAbsolutePath().toString());
            return new ThreadDumpFile(Files.newInputStream(file, StandardOpenOption.DELETE_ON_CLOSE), directory);
        } catch (Throwable failure) {
            Files.deleteIfExists(file);
            throw failure;
        } finally {
            deleteIfEmpty(directory);
        }
    }

    /** Writes a dump into a file that does not exist. */
    @FunctionalInterface
    interface Dump {

        void to(String file) throws IOException;
    }

    /** The JVM sees to the permissions; a file would get those of any other file. */
    static Path newDirectory() throws IOException {
        return Files.createTempDirectory(PREFIX);
    }

    private static void deleteIfEmpty(Path directory) {
        try {
            Files.deleteIfExists(directory);
        } catch (IOException notEmpty) {
            // until the stream is closed
        }
    }

    @Override
    public void close() throws IOException {
        try {
            super.close();
        } finally {
            deleteIfEmpty(directory);
        }
    }
}
