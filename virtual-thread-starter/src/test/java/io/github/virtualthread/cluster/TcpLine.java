package io.github.virtualthread.cluster;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** A line to a server that can be cut, or hold up all that is sent: each client has one of its own. */
final class TcpLine implements AutoCloseable {

    private volatile int target;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private ServerSocket server;
    private int port;
    private boolean isHeldUp; // under the lock

    TcpLine(int target) throws IOException {
        this.target = target;
        listen();
    }

    private void listen() throws IOException {
        ServerSocket listening = new ServerSocket();
        listening.setReuseAddress(true);
        listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        port = listening.getLocalPort();
        server = listening;
        Thread.ofPlatform().daemon().start(() -> accept(listening));
    }

    int port() {
        return port;
    }

    private void accept(ServerSocket listening) {
        try {
            while (true) {
                connect(listening.accept());
            }
        } catch (IOException closed) {
            // it is cut
        }
    }

    private void connect(Socket from) {
        sockets.add(from);
        try {
            Socket to = new Socket(InetAddress.getLoopbackAddress(), target);
            sockets.add(to);
            Thread.ofPlatform().daemon().start(() -> carry(from, to));
            Thread.ofPlatform().daemon().start(() -> carry(to, from));
        } catch (IOException noServer) {
            close(from);
        }
    }

    private void carry(Socket from, Socket to) {
        byte[] bytes = new byte[65_536];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
                awaitPassage();
                out.write(bytes, 0, read);
            }
        } catch (IOException | InterruptedException gone) {
            // the other side goes, too
        }
        close(from);
        close(to);
    }

    private void awaitPassage() throws InterruptedException {
        lock.lock();
        try {
            while (isHeldUp) {
                changed.await();
            }
        } finally {
            lock.unlock();
        }
    }

    private void close(Socket socket) {
        sockets.remove(socket);
        try {
            socket.close();
        } catch (IOException closed) {
            // as it should be
        }
    }

    /** All that is sent waits, in both directions. */
    void holdUp() {
        holdUp(true);
    }

    private void holdUp(boolean all) {
        lock.lock();
        try {
            isHeldUp = all;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Ends all connections, and refuses others. */
    void cut() throws IOException {
        server.close();
        sockets.forEach(this::close);
    }

    /** Leads to another server from now on: all connections end. */
    void lead(int port) {
        target = port;
        sockets.forEach(this::close);
    }

    /** Passes again what waits, and new connections. */
    void mend() throws IOException {
        holdUp(false);
        if (server.isClosed()) {
            listen();
        }
    }

    @Override
    public void close() throws IOException {
        cut();
        holdUp(false);
    }
}
