package io.github.virtualthread.sample.lab.experiment;

import static io.github.virtualthread.sample.lab.Answer.number;

import io.github.virtualthread.sample.lab.About;
import io.github.virtualthread.sample.lab.Act;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Chart;
import io.github.virtualthread.sample.lab.Answer.Line;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Contender;
import io.github.virtualthread.sample.lab.Experiment;
import io.github.virtualthread.sample.lab.Parameter;
import io.github.virtualthread.sample.lab.Ranges;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Source;
import io.github.virtualthread.sample.lab.experiment.OverloadServer.Setup;
import io.github.virtualthread.sample.lab.experiment.OverloadServer.Way;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;

/** More requests with a deadline than the pool behind a web server can do, for as long as it is measured. */
@Component
@Order(102)
class ThreeTimesTooMuch implements Experiment {

    static final String MORE = "More are done in time if hopeless requests are rejected";
    static final String AS_MANY = "As many are done in time with deadlines alone";
    static final String FEWER = "Fewer are done in time, because many are rejected";

    private static final Duration WARM_UP = Duration.ofSeconds(1);

    @Override
    public About about() {
        return new About(
                "three-times-too-much",
                Act.LIMIT_THE_RESOURCE,
                "Three times too much",
                "More requests with a deadline come than the pool behind a web server can do. How many are done in time?",
                List.of(MORE, AS_MANY, FEWER),
                List.of(
                        new Parameter("load", "Requests, of what the pool can do", "%", 50, 1_000, 300, 300),
                        new Parameter("places", "Places in the pool", "", 1, 20, 10, 10),
                        new Parameter("millis", "A request takes", "ms", 50, 1_000, 50, 50),
                        new Parameter("deadline", "Deadline", "ms", 100, 5_000, 1_000, 500),
                        new Parameter("wait", "maxWaitDuration of the bulkhead", "ms", 0, 5_000, 500, 250),
                        new Parameter("seconds", "Requests come for", "s", 1, 20, 4, 1),
                        new Parameter("rounds", "Rounds", "", 1, 10, 1, 1)),
                "How bursts are served: at this steady rate a bulkhead whose maxWaitDuration is 0 does as much.",
                Source.of(BulkheadPool.class),
                """
                spring:
                  threads:
                    virtual:
                      enabled: true
                virtual-thread:
                  limits:
                    web:
                      permits: 10
                      max-wait: 1s
                      reject-hopeless: true
                  web:
                    limit: web
                    deadline: 1s""",
                "",
                75,
                30,
                "requests done in time");
    }

    @Override
    public Answer run(Run run) throws Exception {
        Setup setup = new Setup(run.get("places"), run.get("millis"), run.get("deadline"), run.get("wait"));
        Map<String, Line> done = new LinkedHashMap<>();
        run.progress(0, "Starting a JVM");
        try (ChildJvm jvm = ChildJvm.start(
                OverloadServer.class,
                List.of("-Xmx1g", "-Dspring.main.banner-mode=off", "-Dlogging.level.root=error"))) {
            List<Row> rows = run.compare(Stream.of(Way.values())
                    .map(way -> contender(way, new OverloadTrial(jvm, setup, way), run, done))
                    .toList());
            Ranges ranges = new Ranges(run.get(Parameter.ROUNDS.name()));
            return new Answer(
                            sentence(rows, setup, run.get("load")),
                            List.of(
                                    DeadlineTally.IN_TIME,
                                    DeadlineTally.LATE,
                                    DoorTally.REFUSED,
                                    DoorTally.TOLD,
                                    DoorTally.TOLD_99,
                                    OverloadTrial.EACH,
                                    Tally.FAILED,
                                    Tally.TIMED_OUT,
                                    Tally.BUSY),
                            rows,
                            List.of(new Chart(
                                    "Requests done in time, so far",
                                    "seconds",
                                    "requests",
                                    List.copyOf(done.values()))),
                            notes(setup))
                    .withRight(right(rows, ranges), ranges.open());
        }
    }

    private static Contender contender(Way way, OverloadTrial trial, Run run, Map<String, Line> done) {
        return new Contender(way.label(), () -> trial.warmUp(run, WARM_UP), () -> {
            OverloadTrial.Measured measured = trial.measure(run, Duration.ofSeconds(run.get("seconds")));
            done.put(way.label(), measured.line());
            return measured.figures();
        });
    }

    private static String sentence(List<Row> rows, Setup setup, int load) {
        return ("Of %,d requests per second, %,d can be done. Done in time: %s with reject-hopeless, %s by a bulkhead, %s with the long"
                        + " queue, %s with a deadline alone, %s without a limit, %s on Tomcat's threads.")
                .formatted(
                        setup.perSecond(load),
                        setup.perSecond(100),
                        inTime(rows, Way.HOPELESS),
                        inTime(rows, Way.BULKHEAD),
                        inTime(rows, Way.LONG_QUEUE),
                        inTime(rows, Way.DEADLINE),
                        inTime(rows, Way.NO_LIMIT),
                        inTime(rows, Way.TOMCAT));
    }

    private static String inTime(List<Row> rows, Way way) {
        return number(row(rows, way).median(DeadlineTally.IN_TIME.key()));
    }

    private static Row row(List<Row> rows, Way way) {
        return Row.named(rows, way.label());
    }

    static String right(List<Row> rows, Ranges ranges) {
        Row hopeless = row(rows, Way.HOPELESS);
        Row deadline = row(rows, Way.DEADLINE);
        if (ranges.isMore(hopeless, deadline, DeadlineTally.IN_TIME)) {
            return MORE;
        }
        if (ranges.isMore(deadline, hopeless, DeadlineTally.IN_TIME)) {
            return FEWER;
        }
        return ranges.isAlike(hopeless, deadline, DeadlineTally.IN_TIME) ? AS_MANY : "";
    }

    private static List<String> notes(Setup setup) {
        return List.of(
                "Each limit has as many permits as the pool behind it has places, %d. Work that has begun goes on, even if its deadline"
                                .formatted(setup.places())
                        + " passes. Without a limit a request waits in the pool until its deadline, and is refused then.",
                ("The queue that is twice too long has permits x deadline / time of a request, here %d x %,d / %d = %,d: its last"
                                + " request begins when its deadline passes.")
                        .formatted(setup.places(), setup.deadlineMillis(), setup.workMillis(), setup.longQueue()),
                "A request waits at most %,d ms for the bulkhead, which knows no deadline, and is refused then."
                        .formatted(setup.bulkheadMillis()),
                "Tomcat has as many threads as the pool has places. Its queue has no bound and no deadline: nobody is refused, and whoever"
                        + " waits two deadlines after the last request came is counted as timed out.",
                "Done in time and too late: in the second half of the time in which requests came, because queues fill before. A refusal is"
                        + " a 503, after which Tomcat closes the connection.",
                "Processor time is that of a JVM for the servers alone: its difference under twice the load (half of it, if it is more than 500 %),"
                        + " divided by the difference in refusals. Their connections are included.");
    }
}
