package io.github.virtualthread.sample.lab.terminal;

import io.github.virtualthread.sample.lab.About;
import java.util.List;
import java.util.Map;

/**
 * A run with the settings of those who have published figures.
 *
 * @param settings theirs as far as they are known, and of the rest what keeps a run short
 */
record PublishedRun(String experiment, Map<String, Integer> settings) {

    static final List<PublishedRun> ALL = List.of(
            tasks(100),
            tasks(10_000),
            tasks(100_000),
            tasks(1_000_000),
            tasks(5_000_000),
            requests(0, 10, 3), // the first of a round has the coldest code
            requests(6, 0, 1),
            requests(3, 0, 1),
            flood(10_000, 10),
            new PublishedRun("exploding-pool", Map.of("requests", 10_000, "users", 200, "watch", 20, "rounds", 1)),
            flood(100_000, 15),
            flood(1_000_000, 30),
            scarce(150),
            scarce(100),
            new PublishedRun("one-carrier", Map.of("users", 50, "millis", 1_000, "rounds", 1)),
            new PublishedRun("pinning-driver", Map.of("rounds", 3)),
            new PublishedRun(
                    "pinning-driver",
                    Map.of("carriers", 12, "few", 100, "many", 150, "millis", 1_000, "seconds", 10, "rounds", 1)),
            // published by nobody, and longer than a visitor of the page would wait
            new PublishedRun(
                    "the-door",
                    Map.of(
                            "users", 3_000,
                            "places", 200,
                            "queue", 400,
                            "wait", 3_000,
                            "millis", 1_000,
                            "timeout", 2_000,
                            "pause", 5_000,
                            "seconds", 12,
                            "rounds", 3)),
            new PublishedRun("one-tenant-floods", Map.of("others", 10, "rate", 100)),
            new PublishedRun("one-tenant-floods", Map.of("others", 2, "rate", 700)), // where a weight shows
            new PublishedRun("three-times-too-much", Map.of("load", 300, "rounds", 3)),
            new PublishedRun("three-times-too-much", Map.of("load", 50, "rounds", 1)),
            new PublishedRun("three-times-too-much", Map.of("load", 100, "rounds", 1)),
            new PublishedRun("three-times-too-much", Map.of("load", 1_000, "rounds", 1)),
            new PublishedRun("three-times-too-much", Map.of("load", 300, "wait", 0, "rounds", 1)),
            new PublishedRun("client-gone", Map.of("rounds", 3)),
            new PublishedRun("three-replicas", Map.of("rounds", 3)));

    private static PublishedRun tasks(int number) {
        return new PublishedRun("pool-or-virtual", Map.of("tasks", number, "millis", 1_000, "rounds", 1));
    }

    private static PublishedRun requests(int ramp, int loop, int rounds) {
        return new PublishedRun(
                "blocking-requests",
                Map.of(
                        "users", 3_000, "millis", 1_000, "ramp", ramp, "loop", loop, "timeout", 60_000, "rounds",
                        rounds));
    }

    private static PublishedRun flood(int requests, int watch) {
        return new PublishedRun("exploding-pool", Map.of("requests", requests, "watch", watch, "rounds", 1));
    }

    private static PublishedRun scarce(int connections) {
        return new PublishedRun(
                "scarce-resource",
                Map.of(
                        "users", 3_000,
                        "connections", connections,
                        "millis", 1_000,
                        "timeout", 5_000,
                        "wait", 2_000,
                        "rounds", 1));
    }

    /** All of an experiment; one with the usual settings where nobody has published any. */
    static List<PublishedRun> of(About about) {
        List<PublishedRun> runs =
                ALL.stream().filter(run -> run.experiment().equals(about.id())).toList();
        return runs.isEmpty() ? List.of(new PublishedRun(about.id(), Map.of())) : runs;
    }
}
