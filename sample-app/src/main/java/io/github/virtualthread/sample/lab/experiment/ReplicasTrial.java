package io.github.virtualthread.sample.lab.experiment;

import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Answer.Line;
import io.github.virtualthread.sample.lab.Answer.Span;
import io.github.virtualthread.sample.lab.Measurement;
import io.github.virtualthread.sample.lab.Run;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Three replicas of one contender while things happen to them, as their partner sees it. */
final class ReplicasTrial {

    static final Column RATE = new Column("rate", "calls done", "per second");
    static final Column MOST = new Column("most", "calls at once, most", "");
    static final Column FAILED = new Column("failed", "calls failed", "");

    static final int REPLICAS = 3;

    /** Of shares and of permits: the shortest that the starter takes. */
    static final int LEASE_SECONDS = 1;

    /** What is drawn is the average of so many looks: calls that come and go are no news. */
    private static final int LOOKS = 4;

    private static final Duration LOOK = Duration.ofMillis(10);
    private static final Duration LONGEST_WARM_UP = Duration.ofSeconds(30);

    /** A replica is small, and many start at once. */
    private static final List<String> OPTIONS = List.of(
            "-Xmx96m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Dspring.config.name=" + ReplicaServer.SETTINGS,
            "-Dspring.main.banner-mode=off",
            "-Dlogging.level.root=error"); // what a client says while Redis is stopped

    /** What happens, one after the other. */
    enum Part {
        ALL_BUSY("allBusy", "all replicas busy"),
        ONE_IDLE("oneIdle", "one idle"),
        BUSY_AGAIN("busyAgain", "all busy again"),
        ONE_KILLED("oneKilled", "one killed"),
        REDIS_STOPPED("redisStopped", "Redis stopped"),
        REDIS_BACK("redisBack", "Redis back");

        private final Column column;

        Part(String key, String label) {
            this.column = new Column(key, label, "calls at once");
        }

        /** How many calls the partner served at once on the average, in the last third of the part. */
        Column column() {
            return column;
        }
    }

    private final String profile;
    private final Run run;
    private final List<ChildJvm> replicas = new ArrayList<>();
    private CountedLines lines;

    /**
     * One that runs once.
     *
     * @param profile of {@link ReplicaServer}
     */
    ReplicasTrial(String profile, Run run) {
        this.profile = profile;
        this.run = run;
    }

    /** Permits of all replicas together. */
    static int permits(Run run) {
        return REPLICAS * run.get("permits");
    }

    /**
     * Blocks until it is over, and draws meanwhile.
     *
     * @param redis stopped and started on the way; null for none, where it does not start on this system
     */
    Measurement measure(String line, ReplicaRedis redis) throws Exception {
        try (CountingPartner partner = CountingPartner.open(Duration.ofMillis(run.get("millis")))) {
            start(partner.port(), redis == null ? 0 : redis.port());
            for (ChildJvm replica : replicas) {
                busy(replica);
            }
            warmUp(partner);
            lines = new CountedLines(System.nanoTime())
                    .with(line, partner::inside)
                    .with(Line.PERMITS, () -> permits(run));
            return lines.whileDrawn(run, () -> play(partner, redis));
        } finally {
            replicas.forEach(ChildJvm::close);
        }
    }

    private void start(int partner, int redis) throws IOException {
        List<String> options = new ArrayList<>(OPTIONS);
        options.add("-Dspring.profiles.active=" + profile);
        options.add("-Dspring.data.redis.port=" + redis);
        options.add("-Dreplica.partner=" + partner);
        options.add("-Dreplica.permits=" + (profile.equals(ReplicaServer.LOCAL) ? run.get("permits") : permits(run)));
        options.add("-Dreplica.lease=" + LEASE_SECONDS);
        for (int i = 0; i < REPLICAS; i++) {
            replicas.add(ChildJvm.start(ReplicaServer.class, options));
        }
    }

    /** As many callers as there are permits: it could use them all. */
    private void busy(ChildJvm replica) throws InterruptedException {
        replica.ask(ReplicaServer.BUSY + " " + permits(run));
    }

    /** Until each replica could have used all permits several times. */
    private void warmUp(CountingPartner partner) throws InterruptedException {
        long end = System.nanoTime() + LONGEST_WARM_UP.toNanos();
        while (partner.look().done() < 10L * permits(run) && System.nanoTime() < end) {
            Thread.sleep(LOOK);
        }
    }

    private Measurement play(CountingPartner partner, ReplicaRedis redis) throws Exception {
        long from = System.nanoTime();
        long length = TimeUnit.SECONDS.toNanos(run.get("seconds"));
        CountingPartner.Count first = partner.begin();
        Measurement measured = new Measurement(Map.of());
        for (Part part : Part.values()) {
            happen(part, redis);
            Pace.await(from + length * 2 / 3);
            CountingPartner.Count before = partner.look();
            from += length;
            Pace.await(from);
            measured = measured.and(part.column().key(), partner.look().mean(before));
        }
        CountingPartner.Count last = partner.look();
        return measured.and(RATE.key(), last.rate(first))
                .and(MOST.key(), last.most())
                .and(FAILED.key(), failed());
    }

    private void happen(Part part, ReplicaRedis redis) throws Exception {
        switch (part) {
            case ALL_BUSY -> {}
            case ONE_IDLE -> replicas.get(2).ask(ReplicaServer.IDLE);
            case BUSY_AGAIN -> busy(replicas.get(2));
            case ONE_KILLED -> replicas.remove(1).close();
            case REDIS_STOPPED -> {
                if (redis != null) {
                    redis.stop();
                }
            }
            case REDIS_BACK -> {
                if (redis != null) {
                    redis.goOn();
                }
            }
        }
    }

    /** Not those of the replica that was killed: nobody can ask it. */
    private int failed() throws InterruptedException {
        int failed = 0;
        for (ChildJvm replica : replicas) {
            failed += Integer.parseInt(replica.ask(ReplicaServer.FAILED));
        }
        return failed;
    }

    /** The calls at the partner, smoothed, and the permits. */
    List<Line> lines() {
        return lines.lines().stream().map(ReplicasTrial::smoothed).toList();
    }

    static Line smoothed(Line line) {
        List<double[]> points = line.points();
        List<double[]> smoothed = new ArrayList<>();
        for (int at = 0; at < points.size(); at += LOOKS) {
            List<double[]> looks = points.subList(at, Math.min(at + LOOKS, points.size()));
            smoothed.add(new double[] {looks.getLast()[0], mean(looks)});
        }
        return new Line(line.name(), smoothed);
    }

    private static double mean(List<double[]> points) {
        return points.stream().mapToDouble(point -> point[1]).average().orElseThrow();
    }

    /** What happens when, in milliseconds. */
    static List<Span> spans(Run run) {
        return List.of(
                span("replica 3", Part.ONE_IDLE, Part.BUSY_AGAIN, "idle", run),
                span("replica 2", Part.ONE_KILLED, null, "killed", run),
                span("Redis", Part.REDIS_STOPPED, Part.REDIS_BACK, "stopped", run));
    }

    private static Span span(String part, Part from, Part to, String end, Run run) {
        double length = run.get("seconds") * 1e3;
        List<Part> parts = List.of(Part.values());
        int last = to == null ? parts.size() : parts.indexOf(to);
        return new Span(part, parts.indexOf(from) * length, last * length, end);
    }
}
