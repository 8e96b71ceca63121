package io.github.virtualthread.sample.lab.experiment;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** One user of a web server: asks, reads the answer, and keeps the connection. Never blocks. Not thread-safe. */
final class WebUser {

    private static final int NONE = -1;
    private static final String LENGTH = "\r\ncontent-length:";
    private static final String LAST = "\r\nconnection: close"; // the server keeps this connection no longer

    private final InetSocketAddress server;
    private final ByteBuffer in = ByteBuffer.allocate(4_096); // an answer of the lab has some 300 bytes
    private ByteBuffer out = ByteBuffer.allocate(0);
    private SocketChannel channel;
    private int request = NONE;
    private long askedAt;

    WebUser(InetSocketAddress server) {
        this.server = server;
    }

    /** Asks for a path, to which the number of the request is added. */
    void ask(int number, String path, Selector selector, long now) throws IOException {
        request = number;
        askedAt = now;
        in.clear();
        out = ByteBuffer.wrap("GET %s%d HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: lab\r\n\r\n"
                .formatted(path, number)
                .getBytes(StandardCharsets.US_ASCII));
        if (channel != null) {
            write(channel.keyFor(selector));
            return;
        }
        channel = SocketChannel.open();
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        boolean connected = channel.connect(server);
        SelectionKey key = channel.register(selector, SelectionKey.OP_CONNECT, this);
        if (connected) {
            write(key);
        }
    }

    /** Does what the connection is ready for. */
    State goOn(SelectionKey key) throws IOException {
        if (!key.isValid()) {
            return State.WAITING;
        }
        if (key.isConnectable()) {
            channel.finishConnect();
            write(key);
        } else if (key.isWritable()) {
            write(key);
        } else if (key.isReadable()) {
            return read();
        }
        return State.WAITING;
    }

    private void write(SelectionKey key) throws IOException {
        channel.write(out);
        key.interestOps(out.hasRemaining() ? SelectionKey.OP_WRITE : SelectionKey.OP_READ);
    }

    private State read() throws IOException {
        if (channel.read(in) < 0) {
            close();
            return request == NONE ? State.WAITING : State.REFUSED;
        }
        String text = new String(in.array(), 0, in.position(), StandardCharsets.ISO_8859_1);
        int end = text.indexOf("\r\n\r\n");
        if (end < 0) {
            return in.hasRemaining() ? State.WAITING : State.REFUSED;
        }
        if (request != NONE && text.startsWith("HTTP/1.1 503")) {
            return State.REJECTED;
        }
        if (request == NONE || !text.startsWith("HTTP/1.1 200")) {
            return State.REFUSED;
        }
        String head = text.substring(0, end).toLowerCase(Locale.ROOT);
        if (in.position() < end + 4 + length(head)) {
            return State.WAITING;
        }
        if (head.contains(LAST)) {
            close();
        }
        return State.ANSWERED;
    }

    private static int length(String head) throws IOException {
        int at = head.indexOf(LENGTH);
        if (at < 0) {
            throw new IOException("An answer without a length: " + head);
        }
        int from = at + LENGTH.length();
        int to = head.indexOf('\r', from);
        return Integer.parseInt(
                head.substring(from, to < 0 ? head.length() : to).strip());
    }

    boolean waitsFor(int number) {
        return request == number;
    }

    long askedAt() {
        return askedAt;
    }

    /** Waits no longer; returns the number of the request. */
    int endRequest() {
        int ended = request;
        request = NONE;
        return ended;
    }

    void close() {
        if (channel != null) {
            try {
                channel.close();
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
            channel = null;
        }
    }

    /** How far a request is. */
    enum State {
        WAITING,
        ANSWERED,
        REJECTED,
        REFUSED
    }
}
