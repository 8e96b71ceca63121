package io.github.virtualthread.web;

import io.github.virtualthread.Internal;
import io.github.virtualthread.execution.CallScope;
import io.github.virtualthread.timer.TaskTimer;
import io.github.virtualthread.web.TcpTable.State;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notices that the client of a request has gone where its server does not: with HTTP/1.1, servlet containers do not read from a
 * connection before the answer is complete. Linux knows.
 *
 * <p>A thread looks twice a second, while there are requests, for those that are not quite young.
 */
@Internal
public final class ClientWatch {

    private static final Logger logger = LoggerFactory.getLogger(ClientWatch.class);

    static final long PERIOD_NANOS = 500_000_000; // half a second

    /** Most requests end before anybody looks. */
    static final long YOUNG_NANOS = PERIOD_NANOS / 2;

    /** A look takes at most a twentieth of a processor: it takes longer, the more connections the machine has. */
    private static final int PAUSES_PER_LOOK = 20;

    private final Set<Client> clients = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean looks = new AtomicBoolean();
    private final TcpTable table;
    private final boolean isPossible;
    private long
            lastLook; // how long it took; like the pause, of the thread that looks, and the next one goes on with it
    private long pause = PERIOD_NANOS;

    /** Creates a watch without a thread. */
    ClientWatch(TcpTable table) {
        this.table = table;
        this.isPossible = table.isReadable();
    }

    /**
     * Whether this system tells of clients that have gone.
     *
     * @return otherwise only servers tell
     */
    public static boolean isPossible() {
        return TcpTable.OF_LINUX.isReadable();
    }

    /** A request begins. */
    Client begin(HttpServletRequest request) {
        if (!isPossible || mayHaveAnotherPort(request)) {
            return client(request);
        }
        Client client = watch(request);
        startToLook();
        return client;
    }

    /** Jetty takes a port in these headers for that of the connection: it may be that of somebody else's connection. */
    private static boolean mayHaveAnotherPort(HttpServletRequest request) {
        return plain(request).getClass().getName().startsWith("org.eclipse.jetty.")
                && Stream.of("Forwarded", "X-Forwarded-For")
                        .map(request::getHeader)
                        .anyMatch(header -> header != null && header.contains(":"));
    }

    /** From now on, looks at the table see the request. */
    Client watch(ServletRequest request) {
        Client client = client(request);
        clients.add(client);
        return client;
    }

    private Client client(ServletRequest request) {
        ServletRequest plain = plain(request);
        return new Client(TcpTable.ports(plain.getLocalPort(), plain.getRemotePort()), System.nanoTime());
    }

    /** A wrapper may have the port of a proxy's client. */
    private static ServletRequest plain(ServletRequest request) {
        ServletRequest plain = request;
        while (plain instanceof ServletRequestWrapper wrapper) {
            plain = wrapper.getRequest();
        }
        return plain;
    }

    private void startToLook() {
        if (!looks.get() && looks.compareAndSet(false, true)) {
            try {
                TaskTimer.daemon().name("virtual-thread-clients").start(this::lookWhileThereAreClients);
            } catch (OutOfMemoryError shortage) {
                looks.set(false); // the next request tries again
            }
        }
    }

    private void lookWhileThereAreClients() {
        do {
            LockSupport.parkNanos(pause);
            lookIfPossible();
        } while (!clients.isEmpty() || !stops());
    }

    /** Those that begin a request look the other way round. */
    private boolean stops() {
        looks.set(false);
        return clients.isEmpty() || !looks.compareAndSet(false, true);
    }

    /**
     * How long it may pause, by the shorter of the last two looks at the table: the first one takes much longer than all others.
     *
     * @param look nanoseconds that the last look took
     */
    long pause(long look) {
        long shorter = Math.min(look, lastLook);
        lastLook = look;
        return Math.max(PERIOD_NANOS, PAUSES_PER_LOOK * shorter);
    }

    private void lookIfPossible() {
        long begin = System.nanoTime();
        try {
            if (look(begin)) {
                pause = pause(System.nanoTime() - begin);
            }
        } catch (IOException | RuntimeException | OutOfMemoryError unknown) {
            logger.debug("It is not known whose clients have gone; the next look may tell", unknown);
        }
    }

    /** Ends the requests whose client has gone. Returns false if all are so young that the table was not read. */
    boolean look(long now) throws IOException {
        List<Client> all = List.copyOf(clients);
        if (all.stream().noneMatch(client -> now - client.since >= YOUNG_NANOS)) {
            return false;
        }
        Map<Integer, State> states =
                table.states(all.stream().map(client -> client.ports).collect(Collectors.toSet()));
        List<CallScope> gone = new ArrayList<>();
        for (Client client : all) {
            if (client.isGone(states.getOrDefault(client.ports, State.MISSING)) && clients.remove(client)) {
                gone.add(client.calls);
            }
        }
        CallScope.clientsGone(gone);
        return true;
    }

    /** Whether no thread looks, because there is no request. */
    boolean isIdle() {
        return !looks.get();
    }

    /** Who waits for a request. */
    final class Client {

        /** The table is not read at one moment: a line may be missing although its connection is there. */
        private static final int LOOKS_UNTIL_GONE = 2;

        final CallScope calls = new CallScope();
        private final int ports;
        private final long since; // by System.nanoTime()
        private boolean established;
        private int missing;

        private Client(int ports, long since) {
            this.ports = ports;
            this.since = since;
        }

        /** The request has ended: its calls go on. */
        void end() {
            clients.remove(this);
        }

        /**
         * Whether the client has gone, as the table tells. Two ports may be those of several connections; and where a proxy tells the
         * port of its client, they are those of none.
         */
        boolean isGone(State now) {
            established |= now == State.ESTABLISHED;
            missing = now == State.MISSING ? missing + 1 : 0;
            return now == State.CLOSED_BY_CLIENT || (established && missing >= LOOKS_UNTIL_GONE);
        }
    }
}
