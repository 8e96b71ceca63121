package com.acme.shop;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A connection of HTTP/2 in clear text with many requests, one of which may be reset. Knows no more of RFC 9113 than that needs: of
 * an answer, it has the body, and all bodies together have the 64 kB of a window that is never opened again.
 */
final class Http2Exchange implements AutoCloseable {

    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int RST_STREAM = 3;
    private static final int SETTINGS = 4;
    private static final int PING = 6;
    private static final int GOAWAY = 7;

    private static final int ACK = 1;
    private static final int END_STREAM = 1;
    private static final int END_HEADERS = 4;
    private static final int CANCEL = 8;

    private static final byte[] NOTHING = {};

    private final Socket socket;
    private final DataOutputStream out;
    private final Map<Integer, Answer> answers = new ConcurrentHashMap<>();
    private int lastStream = -1;

    private Http2Exchange(Socket socket) throws IOException {
        this.socket = socket;
        this.out = new DataOutputStream(socket.getOutputStream());
    }

    /** A body that comes. */
    private record Answer(ByteArrayOutputStream body, CompletableFuture<String> complete) {}

    static Http2Exchange connect(int port) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        Http2Exchange exchange = new Http2Exchange(socket);
        exchange.out.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        exchange.write(SETTINGS, 0, 0, NOTHING);
        Thread.ofVirtual().start(exchange::read);
        return exchange;
    }

    /** Returns the number of the stream. */
    synchronized int send(String path) throws IOException {
        lastStream += 2;
        answers.put(lastStream, new Answer(new ByteArrayOutputStream(), new CompletableFuture<>()));
        ByteArrayOutputStream headers = new ByteArrayOutputStream();
        headers.write(0x82); // :method: GET, of HPACK's static table
        headers.write(0x86); // :scheme: http
        literal(headers, 0x04, path); // :path
        literal(headers, 0x01, "localhost"); // :authority
        write(HEADERS, END_STREAM | END_HEADERS, lastStream, headers.toByteArray());
        return lastStream;
    }

    private static void literal(ByteArrayOutputStream headers, int name, String value) {
        byte[] text = value.getBytes(StandardCharsets.US_ASCII);
        headers.write(name);
        headers.write(text.length); // less than 127
        headers.writeBytes(text);
    }

    CompletableFuture<String> answer(int stream) {
        return answers.get(stream).complete;
    }

    /** Nobody waits for this answer any more. */
    void reset(int stream) throws IOException {
        write(RST_STREAM, 0, stream, new byte[] {0, 0, 0, CANCEL});
    }

    private synchronized void write(int type, int flags, int stream, byte[] payload) throws IOException {
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        DataOutputStream to = new DataOutputStream(frame);
        to.writeInt(payload.length << 8 | type);
        to.writeByte(flags);
        to.writeInt(stream);
        to.write(payload);
        out.write(frame.toByteArray());
    }

    private void read() {
        try {
            DataInputStream in = new DataInputStream(socket.getInputStream());
            while (true) {
                int lengthAndType = in.readInt();
                int flags = in.readUnsignedByte();
                int stream = in.readInt() & Integer.MAX_VALUE;
                byte[] payload = new byte[lengthAndType >>> 8];
                in.readFully(payload);
                take(lengthAndType & 0xFF, flags, stream, payload);
            }
        } catch (IOException end) {
            answers.values().forEach(answer -> answer.complete.completeExceptionally(end));
        }
    }

    private void take(int type, int flags, int stream, byte[] payload) throws IOException {
        Answer answer = answers.get(stream);
        switch (type) {
            case DATA -> answer.body.write(payload);
            case RST_STREAM -> answer.complete.completeExceptionally(new EOFException("The server has reset it"));
            case GOAWAY -> throw new EOFException("GOAWAY " + new String(payload, StandardCharsets.US_ASCII).strip());
            case SETTINGS, PING -> {
                if ((flags & ACK) == 0) {
                    write(type, ACK, 0, type == PING ? payload : NOTHING);
                }
            }
            default -> {}
        }
        if ((type == DATA || type == HEADERS) && (flags & END_STREAM) != 0) {
            answer.complete.complete(answer.body.toString(StandardCharsets.UTF_8));
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
