package io.github.virtualthread.web;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reports a write that has failed: the client has gone away. Spring MVC leaves the end of such an answer to the container. Jetty
 * throws the failure to who writes, but neither ends the request nor reports an error: jetty/jetty.project#3283.
 */
final class WatchedResponse extends HttpServletResponseWrapper {

    private volatile @Nullable Throwable failure;
    private volatile @Nullable Consumer<Throwable> listener;
    private @Nullable ServletOutputStream stream;
    private @Nullable PrintWriter writer;

    WatchedResponse(HttpServletResponse response) {
        super(response);
    }

    /**
     * Sets who is told, at once if a write has failed before.
     *
     * @param told may be told more than once, by the thread that writes
     */
    void onFailedWrite(Consumer<Throwable> told) {
        listener = told; // before the look at the failure: failed() looks the other way round
        Throwable before = failure;
        if (before != null) {
            told.accept(before);
        }
    }

    private void failed(Throwable now) {
        failure = now;
        Consumer<Throwable> told = listener;
        if (told != null) {
            told.accept(now);
        }
    }

    @Override
    public ServletOutputStream getOutputStream() throws IOException {
        ServletOutputStream known = stream;
        if (known == null) {
            known = new Stream(super.getOutputStream());
            stream = known;
        }
        return known;
    }

    @Override
    public PrintWriter getWriter() throws IOException {
        PrintWriter known = writer;
        if (known == null) {
            known = new Writer(super.getWriter());
            writer = known;
        }
        return known;
    }

    @Override
    public void flushBuffer() throws IOException {
        watch(super::flushBuffer);
    }

    private void watch(Write write) throws IOException {
        try {
            write.run();
        } catch (IOException broken) {
            failed(broken);
            throw broken;
        }
    }

    private interface Write {
        void run() throws IOException;
    }

    private final class Stream extends ServletOutputStream {

        private final ServletOutputStream out;

        Stream(ServletOutputStream out) {
            this.out = out;
        }

        @Override
        public void write(int b) throws IOException {
            watch(() -> out.write(b));
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            watch(() -> out.write(bytes, offset, length));
        }

        @Override
        public void flush() throws IOException {
            watch(out::flush);
        }

        @Override
        public void close() throws IOException {
            watch(out::close);
        }

        @Override
        public boolean isReady() {
            return out.isReady();
        }

        @Override
        public void setWriteListener(WriteListener writer) {
            out.setWriteListener(new WriteListener() {
                @Override
                public void onWritePossible() throws IOException {
                    writer.onWritePossible();
                }

                @Override
                public void onError(Throwable broken) {
                    failed(broken);
                    writer.onError(broken);
                }
            });
        }
    }

    /** Throws nothing: who writes has to ask. */
    private final class Writer extends PrintWriter {

        Writer(PrintWriter writer) {
            super(writer);
        }

        @Override
        public boolean checkError() {
            boolean error = super.checkError(); // asks the other writer
            if (error) {
                failed(new IOException("A write of the answer has failed"));
            }
            return error;
        }
    }
}
