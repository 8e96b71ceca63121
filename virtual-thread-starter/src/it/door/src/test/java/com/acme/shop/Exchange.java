package com.acme.shop;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;

/** A request on a connection of its own, which its client may break off. */
final class Exchange implements AutoCloseable {

    private final Socket socket;

    private Exchange(Socket socket) {
        this.socket = socket;
    }

    static Exchange connect(int port) throws IOException {
        return over(new Socket(InetAddress.getLoopbackAddress(), port));
    }

    static Exchange over(Socket socket) throws IOException {
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(240_000);
        return new Exchange(socket);
    }

    static Exchange send(int port, String path) throws IOException {
        Exchange exchange = connect(port);
        exchange.write("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        return exchange;
    }

    void write(String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }

    /** Reads until this text has come. */
    void readUntil(String text) throws IOException {
        ByteArrayOutputStream read = new ByteArrayOutputStream();
        InputStream in = socket.getInputStream();
        while (!read.toString(StandardCharsets.UTF_8).contains(text)) {
            int next = in.read();
            if (next < 0) {
                throw new IOException("No \"%s\" in: %s".formatted(text, read.toString(StandardCharsets.UTF_8)));
            }
            read.write(next);
        }
    }

    /** Reads to the end of the connection, which the server closes. */
    Answer read() throws IOException {
        try (socket) {
            return new Answer(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
        }
    }

    /** Reads to the end of this answer, whose length its header tells, and leaves the connection open. */
    Answer readOne() throws IOException {
        InputStream in = socket.getInputStream();
        ByteArrayOutputStream read = new ByteArrayOutputStream();
        while (!read.toString(StandardCharsets.UTF_8).endsWith("\r\n\r\n")) {
            int next = in.read();
            if (next < 0) {
                throw new EOFException("After: " + read.toString(StandardCharsets.UTF_8));
            }
            read.write(next);
        }
        Answer head = new Answer(read.toString(StandardCharsets.UTF_8));
        read.write(in.readNBytes(Integer.parseInt(head.header("Content-Length"))));
        return new Answer(read.toString(StandardCharsets.UTF_8));
    }

    /** Has no answer come by then, {@link #readOne} fails. */
    void setPatience(Duration patience) throws IOException {
        socket.setSoTimeout(Math.toIntExact(patience.toMillis()));
    }

    /** Sends no more, and would still read the answer. */
    void closeHalf() throws IOException {
        socket.shutdownOutput();
    }

    /** Resets the connection, as the system does for a client that has crashed. */
    void breakOff() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    /** All that came, headers first. */
    record Answer(String text) {

        int status() {
            return Integer.parseInt(text.substring("HTTP/1.1 ".length(), "HTTP/1.1 ".length() + 3));
        }

        String body() {
            return text.substring(text.indexOf("\r\n\r\n") + 4);
        }

        /** Null if there is none. */
        String header(String name) {
            String start = name.toLowerCase(Locale.ROOT) + ":";
            return text.substring(0, text.indexOf("\r\n\r\n"))
                    .lines()
                    .filter(line -> line.toLowerCase(Locale.ROOT).startsWith(start))
                    .map(line -> line.substring(start.length()).strip())
                    .findFirst()
                    .orElse(null);
        }
    }
}
