package io.github.virtualthread.sample.lab.experiment;

import static java.nio.charset.StandardCharsets.US_ASCII;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Answer.Line;
import io.github.virtualthread.sample.lab.Measurement;
import io.github.virtualthread.sample.lab.Run;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.jdbc.core.JdbcTemplate;

/** Clients ask a web server for a slow query, and close their connections before it has answered. Then comes one that stays. */
final class AbandonedTrial {

    static final Column GONE = new Column("gone", "database went on after the clients had left", "s");
    static final Column BEGUN = new Column("begun", "queries begun after they had left", "");
    static final Column LEFT = new Column("left", "still in the database when all permits were back", "");
    static final Column LOST = new Column("lost", "sessions lost", "");
    static final Column STAYS = new Column("stays", "one that came then was answered after", "ms");

    private static final Duration LONGEST_ANSWER = Duration.ofMinutes(10);

    private final ScarceServer database;
    private final Run run;
    private final int connections;
    private final Map<String, Object> settings;
    private final AtomicInteger begun = new AtomicInteger();

    AbandonedTrial(ScarceServer database, Run run, boolean abandoned, boolean statements) {
        this.database = database;
        this.run = run;
        this.connections = run.get("connections");
        this.settings = Map.of(
                "virtual-thread.limits.db.permits", connections,
                "virtual-thread.web.cancel-abandoned", abandoned,
                "virtual-thread.jdbc.cancel-statements", statements,
                "spring.mvc.async.request-timeout", LONGEST_ANSWER.toMillis(),
                "server.shutdown", "immediate"); // nobody waits for an answer
    }

    /** One client and one second. */
    Measurement warmUp() throws Exception {
        return with(1, (server, running) -> await(server, running, 1));
    }

    /** With a line of the queries in the database. */
    Measured measure(String name) throws Exception {
        List<Line> drawn = new ArrayList<>();
        Measurement measured = with(run.get("seconds"), (server, running) -> {
            CountedLines lines = new CountedLines(System.nanoTime()).with(name, running::count);
            Measurement figures = lines.whileDrawn(run, () -> await(server, running, run.get("clients")));
            drawn.addAll(lines.lines());
            return figures;
        });
        return new Measured(measured, drawn.getFirst());
    }

    private Measurement with(int seconds, Trial trial) throws Exception {
        OpenedSessions sessions = OpenedSessions.of(database);
        HikariDataSource pool = new HikariDataSource();
        pool.setPoolName("abandoned");
        pool.setDataSource(sessions);
        pool.setMaximumPoolSize(connections);
        String slow = database.slowQuery().formatted(seconds);
        try (RunningQueries running = RunningQueries.of(database);
                DoorServer server = DoorServer.start(true, settings, context -> {
                    context.registerBean(HikariDataSource.class, () -> pool);
                    context.registerBean(
                            AbandonedQueries.class, () -> new AbandonedQueries(new JdbcTemplate(pool), begun));
                    context.registerBean(
                            AbandonedQueries.Requests.class,
                            () -> new AbandonedQueries.Requests(context.getBean(AbandonedQueries.class), slow));
                })) {
            running.awaitNone();
            ScarcePool.borrowAll(pool, connections);
            Measurement measured = trial.measure(server, running);
            ScarcePool.borrowAll(pool, connections);
            return measured.and(LOST.key(), sessions.count() - connections);
        }
    }

    /** Blocks until the database does nothing more for those who have left. */
    private Measurement await(DoorServer server, RunningQueries running, int clients) throws Exception {
        TaskLimit limit = server.bean(TaskLimits.class).get("db");
        List<Socket> sockets = new ArrayList<>();
        try {
            long asked = System.nanoTime();
            for (int i = 0; i < clients; i++) {
                sockets.add(ask(server.port(), "slow"));
            }
            Pace.await(asked + Duration.ofMillis(run.get("patience")).toNanos());
        } finally {
            for (Socket each : sockets) {
                each.close();
            }
        }
        long left = System.nanoTime();
        int begunBefore = begun.get();
        FutureTask<Double> stays = new FutureTask<>(() -> answer(server.port()));
        Thread.ofPlatform().daemon().name("lab-stays").start(stays);
        awaitPermits(limit, stays);
        int stillThere = running.count();
        running.awaitNone();
        double gone = (System.nanoTime() - left) / 1e9;
        return Measurement.of(GONE.key(), gone)
                .and(BEGUN.key(), begun.get() - begunBefore - 1) // but for the one that stays
                .and(LEFT.key(), stillThere)
                .and(STAYS.key(), stays.get());
    }

    private static Socket ask(int port, String what) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.getOutputStream()
                .write("GET %s%s HTTP/1.1\r\nHost: localhost\r\n\r\n"
                        .formatted(DoorServer.PATH, what)
                        .getBytes(US_ASCII));
        return socket;
    }

    /** In milliseconds. */
    private static double answer(int port) throws IOException {
        long asked = System.nanoTime();
        try (Socket socket = ask(port, AbandonedQueries.SHORT)) {
            socket.setSoTimeout((int) LONGEST_ANSWER.toMillis());
            String status = new String(socket.getInputStream().readNBytes("HTTP/1.1 200".length()), US_ASCII);
            if (!status.equals("HTTP/1.1 200")) {
                throw new IOException("The client that stays got '%s'".formatted(status));
            }
        }
        return (System.nanoTime() - asked) / 1e6;
    }

    private static void awaitPermits(TaskLimit limit, FutureTask<?> stays) throws InterruptedException {
        while (!stays.isDone() || limit.available() < limit.permits() || limit.waiting() > 0) {
            Thread.sleep(1);
        }
    }

    /** What is measured while a server runs. */
    @FunctionalInterface
    private interface Trial {
        Measurement measure(DoorServer server, RunningQueries running) throws Exception;
    }

    /** The figures, and the queries in the database over time. */
    record Measured(Measurement figures, Line line) {}
}
