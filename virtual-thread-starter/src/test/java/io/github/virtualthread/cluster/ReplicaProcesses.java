package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;

/**
 * Three replicas, each in a JVM of its own and with a line of its own to a real Redis; the resource, in this JVM, counts their calls.
 * The default settings of Lettuce apply, also for how soon it connects again: it waits a minute for an answer.
 */
abstract class ReplicaProcesses {

    static final int PERMITS = 20;
    static final int CALLERS = 60;
    static final int CALL = 50; // milliseconds
    static final int LEASE = 3_000;
    static final int BEAT = 100;
    private static final AtomicInteger CLUSTERS = new AtomicInteger();

    interface Event {
        void happens() throws Exception;
    }

    static final List<Replica> replicas = new ArrayList<>();
    static final List<TcpLine> lines = new ArrayList<>();

    static RedisProcess redis;
    static Resource resource;
    static String cluster;
    private static String opening;

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
        return new Replica(id, resource.port());
    }

    /** Kills it, and starts its successor at once. */
    static Replica replace(int id) throws IOException, InterruptedException {
        replicas.get(id).close();
        replicas.set(id, replica(id));
        replicas.get(id).answer();
        join(replicas.subList(id, id + 1));
        return replicas.get(id);
    }

    @BeforeEach
    void count() {
        resource.reset();
    }

    @AfterEach
    void print(TestInfo test) {
        System.out.println(test.getDisplayName() + " " + resource);
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

    /** A new cluster of three replicas. */
    static void open(String... limits) throws IOException, InterruptedException {
        open("lettuce:%d", 3, limits);
    }

    /** A new cluster of so many replicas; of three that do not know it if that is 0. They reach the server on the port of their line. */
    static void open(String server, int count, String... limits) throws IOException, InterruptedException {
        cluster = "shop-" + CLUSTERS.incrementAndGet();
        opening =
                String.join(" ", "open", server, cluster, "" + LEASE, "" + BEAT, "" + count, String.join(" ", limits));
        join(replicas.subList(0, count == 0 ? 3 : count));
    }

    /** A new application of the last cluster in each of these; it replaces the one before, which stops. */
    static void join(List<Replica> some) throws IOException, InterruptedException {
        Replica.tellAll(
                some, replica -> opening.formatted(lines.get(replica.id()).port()));
    }

    static void load(List<Replica> some, String limit, int callers) throws Exception {
        Replica.tellAll(some, "load " + limit + " " + callers + " " + CALL);
    }

    static void letPass(int millis) {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (until - System.nanoTime() > 0) {
            LockSupport.parkNanos(until - System.nanoTime());
        }
    }

    /** No more calls. None is lost, and none has failed but for want of a lease. */
    static List<String> end(List<Replica> some) throws IOException, InterruptedException {
        List<String> ends = Replica.tellAll(some, "end");
        System.out.println(ends);
        assertThat(ends).allMatch(end -> end.matches(".* \\{(NO_LEASE=\\d+)?}"));
        return ends;
    }
}
