package io.github.virtualthread.web;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reports a write that has failed: the client has gone away. Spring MVC leaves the end of such an answer to the container. Jetty
 * throws the failure to who writes, but neither ends the request nor reports an error: jetty/jetty.project#3283.
 *
 * <p>A writer is that of the container: it throws nothing, and one of ours would hold a lock, and below Java 24 a carrier, while
 * the container waits for a slow client.
 */
final class WatchedResponse extends HttpServletResponseWrapper {

    private volatile @Nullable Throwable failure;
    private volatile @Nullable Consumer<Throwable> listener;
    private @Nullable ServletOutputStream stream;

    WatchedResponse(HttpServletResponse response) {
        super(response);
    }

    /**
     * Sets who is notified, at once if a write has failed before.
     *
     * @param handler may be called more than once, by the thread that writes
     */
    void onFailedWrite(Consumer<Throwable> handler) {
        listener = handler; // before the look at the failure: failed() looks the other way round
        Throwable before = failure;
        if (before != null) {
            handler.accept(before);
        }
    }

    private void failed(Throwable now) {
        failure = now;
        Consumer<Throwable> handler = listener;
        if (handler != null) {
            handler.accept(now);
        }
    }

    @Override
    public ServletOutputStream getOutputStream() throws IOException {
        if (stream == null) {
            stream = new Stream(super.getOutputStream());
        }
        return stream;
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

    private final class Stream extends ServletOutputStream implements WriteListener {

        private final ServletOutputStream out;
        private @Nullable WriteListener writer;
        private volatile boolean closed; // by the application: what it writes afterwards fails, and nobody has gone

        Stream(ServletOutputStream out) {
            this.out = out;
        }

        private void watchUntilClosed(Write write) throws IOException {
            if (closed) {
                write.run();
            } else {
                watch(write);
            }
        }

        @Override
        public void write(int b) throws IOException {
            watchUntilClosed(() -> out.write(b));
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            watchUntilClosed(() -> out.write(bytes, offset, length));
        }

        /** All others that print end here. Jetty encodes as the answer says; the method that this overrides knows Latin 1 only. */
        @Override
        public void print(String text) throws IOException {
            watchUntilClosed(() -> out.print(text));
        }

        @Override
        public void flush() throws IOException {
            watchUntilClosed(out::flush);
        }

        @Override
        public void close() throws IOException {
            watch(out::close);
            closed = true;
        }

        @Override
        public boolean isReady() {
            return out.isReady();
        }

        @Override
        public void setWriteListener(WriteListener writer) {
            this.writer = writer;
            out.setWriteListener(this);
        }

        @Override
        public void onWritePossible() throws IOException {
            Objects.requireNonNull(writer).onWritePossible();
        }

        @Override
        public void onError(Throwable broken) {
            failed(broken);
            Objects.requireNonNull(writer).onError(broken);
        }
    }
}
