package io.github.virtualthread.actuate;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.HotSpotDiagnosticMXBean.ThreadDumpFormat;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A thread dump that the JVM has written, readable once. */
final class ThreadDumpFile extends FilterInputStream {

    /** Has the process id, because a JVM that is killed may leave the file behind. */
    static final String PREFIX = "virtualthreaddump-" + ProcessHandle.current().pid() + "-";

    /** Directory of the file; on some systems an open file stays in its directory. */
    private final Path directory;

    private ThreadDumpFile(InputStream file, Path directory) {
        super(file);
        this.directory = directory;
    }

    /**
     * Has the JVM write a dump. It requires a file that does not exist, so each dump gets its own directory, which only its
     * owner can read if the file system has owners. The file is deleted when this method returns, or when the stream is
     * closed.
     */
    static InputStream write(Writer writer, ThreadDumpFormat format) throws IOException {
        Path directory = newDirectory();
        Path file = directory.resolve("threads");
        try {
            writer.dumpThreads(file.toAbsolutePath().toString(), format);
            return new ThreadDumpFile(Files.newInputStream(file, StandardOpenOption.DELETE_ON_CLOSE), directory);
        } catch (Throwable failure) {
            Files.deleteIfExists(file);
            throw failure;
        } finally {
            deleteIfEmpty(directory);
        }
    }

    /** Writes a dump into a file that does not exist, as {@link HotSpotDiagnosticMXBean} does. */
    @FunctionalInterface
    interface Writer {

        void dumpThreads(String file, ThreadDumpFormat format) throws IOException;
    }

    /** The JVM restricts the permissions of a temporary directory; the file alone would get the default permissions. */
    static Path newDirectory() throws IOException {
        return Files.createTempDirectory(PREFIX);
    }

    private static void deleteIfEmpty(Path directory) {
        try {
            Files.deleteIfExists(directory);
        } catch (IOException notEmpty) {
            // deleted when the stream is closed
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
