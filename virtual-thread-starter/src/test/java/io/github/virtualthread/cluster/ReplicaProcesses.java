package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/**
 * Three replicas, each in a JVM of its own and with a line of its own to a real Redis; the resource, in this JVM, counts their calls.
 * The default settings of Lettuce apply, also for how soon it connects again: it waits a minute for an answer.
 */
abstract class ReplicaProcesses {

    static final int CALLERS = 60;
    static final int CALL = 50; // milliseconds
    static final int LEASE = 3_000;
    static final int BEAT = 100;
    static final AtomicInteger CLUSTERS = new AtomicInteger();

    static final List<Replica> replicas = new ArrayList<>();
    static final List<TcpLine> lines = new ArrayList<>();

    static RedisProcess redis;
    static Resource resource;

    @BeforeAll
    static void start() throws Exception {
        redis = new RedisProcess();
        resource = new Resource();
        for (int id = 0; id < 3; id++) {
            lines.add(new TcpLine(redis.port()));
            replicas.add(replica(id));
        }
        for (Replica replica : replicas) {
            replica.answer();
        }
    }

    /** Its first answer is that it is ready. */
    static Replica replica(int id) throws IOException {
        return new Replica(id, resource.port(), lines.get(id).port());
    }

    @AfterAll
    static void stop() throws Exception {
        replicas.forEach(Replica::close);
        replicas.clear();
        for (TcpLine line : lines) {
            line.close();
        }
        lines.clear();
        redis.close();
        resource.close();
    }

    /** A new application in each of these; it replaces the one before. */
    static void open(List<Replica> some, int lease, int beat, String... limits) throws Exception {
        if (some.contains(replicas.getLast())) {
            CLUSTERS.incrementAndGet();
        }
        Replica.tellAll(some, "open shop-" + CLUSTERS + " " + lease + " " + beat + " " + String.join(" ", limits));
    }

    static void load(List<Replica> some, String limit, int callers) throws Exception {
        Replica.tellAll(some, "load " + limit + " " + callers + " " + CALL);
    }

    /** No more calls. None is lost, and none has failed but for want of a lease. */
    static List<String> end(List<Replica> some) throws IOException, InterruptedException {
        List<String> ends = Replica.tellAll(some, "end");
        System.out.println(ends);
        assertThat(ends).as("calls whose future is open").allMatch(end -> end.startsWith("open=0 "));
        assertThat(ends).allMatch(end -> end.matches(".* \\{(NO_LEASE=\\d+)?}"));
        return ends;
    }
}
