package io.github.virtualthread.sample.lab.experiment;

import io.github.virtualthread.sample.lab.About;
import io.github.virtualthread.sample.lab.Act;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Facts;
import io.github.virtualthread.sample.lab.Experiment;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Source;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;

/** What a virtual thread does, and the names of it: to all, inside the JDK, and in a dump. */
@Component
@Order(37)
class ThreadStates implements Experiment {

    static final String SEEN = "Thread.getState()";
    static final String INSIDE = "inside java.lang.VirtualThread";
    static final String DUMP = "virtualthreaddump";

    static final String SIX = "It has the six states of every thread";
    static final String MORE = "It has more states inside than it shows";

    @Override
    public About about() {
        return new About(
                "thread-states",
                Act.WAITING_IS_CHEAP,
                "States of a virtual thread",
                "Virtual threads compute, sleep, park, wait and are pinned. Which of these can be told apart from outside?",
                List.of(SIX, MORE),
                List.of(),
                "States that last for a moment only, such as YIELDING. Nor does it show calls that wait for a permit of @VirtualThread: they"
                        + " have no thread yet.",
                Source.of(StatesServer.class),
                "",
                "",
                5,
                5,
                "");
    }

    @Override
    public Answer run(Run run) throws Exception {
        run.progress(0, "Starting a JVM");
        try (ChildJvm jvm = ChildJvm.start(
                StatesServer.class,
                List.of(
                        "--add-opens=java.base/java.lang=ALL-UNNAMED",
                        "-Djdk.virtualThreadScheduler.parallelism=4",
                        "-Xmx64m"))) {
            List<List<String>> rows = Stream.of(jvm.ask("states").split(";"))
                    .map(row -> List.of(row.split("\\|")))
                    .toList();
            long seen = rows.stream().map(row -> row.get(1)).distinct().count();
            long inside = rows.stream().map(row -> row.get(2)).distinct().count();
            return new Answer(
                            "%d threads that do different things have %d states for Thread.getState(), and %d inside the JDK."
                                    .formatted(rows.size(), seen, inside),
                            List.of(),
                            List.of(),
                            List.of(),
                            List.of(
                                    "Java %s. The states inside are private to the JDK, and may change with each release."
                                            .formatted(Runtime.version().feature()),
                                    "The endpoint virtualthreaddump shows states from Java 25 on, before that stacks only. A thread that"
                                            + " has not started or has ended is not in it."))
                    .withFacts(new Facts(List.of("", SEEN, INSIDE, DUMP), rows))
                    .withRight(inside > seen ? MORE : SIX);
        }
    }
}
