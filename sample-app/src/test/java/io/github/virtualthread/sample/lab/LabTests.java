package io.github.virtualthread.sample.lab;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.sample.lab.LabRun.Answered;
import io.github.virtualthread.sample.lab.LabRun.Ended;
import io.github.virtualthread.sample.lab.LabRun.Event;
import io.github.virtualthread.sample.lab.Settings.Scale;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class LabTests {

    private final CountDownLatch gate = new CountDownLatch(1);
    private final Blocked blocked = new Blocked();
    private final Lab lab = new Lab(List.of(blocked, new Racing(), new Broken()));

    @AfterEach
    void end() {
        lab.destroy();
    }

    @Test
    void oneExperimentRunsAtATime() {
        LabRun first = lab.start("blocked", Map.of(), Scale.NORMAL);

        assertThatThrownBy(() -> lab.start("racing", Map.of(), Scale.NORMAL))
                .isInstanceOf(Lab.Busy.class)
                .hasMessage("'Title of blocked' runs. Wait for its end, or cancel it")
                .extracting(busy -> ((Lab.Busy) busy).run())
                .isEqualTo(first.number());

        gate.countDown();
        assertThat(first.answer()).succeedsWithin(120, SECONDS);
        assertThat(lab.start("racing", Map.of(), Scale.NORMAL).answer()).succeedsWithin(120, SECONDS);
    }

    @Test
    void aCancelledRunEndsAndLeavesTheLabFree() {
        LabRun run = lab.start("blocked", Map.of(), Scale.NORMAL);
        List<Event> events = new CopyOnWriteArrayList<>();
        run.listen(events::add);

        run.cancel();

        assertThat(run.answer().handle((answer, failure) -> failure != null))
                .succeedsWithin(120, SECONDS)
                .isEqualTo(true);
        assertThat(events).last().isEqualTo(new Ended("cancelled", "Cancelled"));
        assertThat(lab.running()).isEmpty();
    }

    @Test
    void aRunThatFailsTellsWhy() {
        LabRun run = lab.start("broken", Map.of(), Scale.NORMAL);
        List<Event> events = new CopyOnWriteArrayList<>();

        assertThat(run.answer().handle((answer, failure) -> String.valueOf(failure)))
                .succeedsWithin(120, SECONDS)
                .asString()
                .contains("no socket");
        run.listen(events::add);
        assertThat(events).last().isEqualTo(new Ended("failed", "java.io.IOException: no socket"));
    }

    @Test
    void whoHearsOfTheEndMayStartTheNext() {
        LabRun first = lab.start("blocked", Map.of(), Scale.NORMAL);
        CompletableFuture<LabRun> second = new CompletableFuture<>();
        first.listen(event -> {
            if (event instanceof Answered) {
                second.completeAsync(() -> lab.start("racing", Map.of(), Scale.NORMAL), Runnable::run);
            }
        });

        gate.countDown();

        assertThat(second).succeedsWithin(120, SECONDS);
    }

    @Test
    void anExperimentThatThereIsNotIsNamedWithThoseThereAre() {
        assertThatThrownBy(() -> lab.start("raceing", Map.of(), Scale.NORMAL))
                .hasMessage("There is no experiment 'raceing', only [blocked, racing, broken]");
    }

    @Test
    void whoComesLateHearsTheSame() {
        LabRun run = lab.start("racing", Map.of(), Scale.NORMAL);
        List<Event> early = new CopyOnWriteArrayList<>();
        run.listen(early::add);
        assertThat(run.answer()).succeedsWithin(120, SECONDS);
        List<Event> late = new CopyOnWriteArrayList<>();
        run.listen(late::add);

        assertThat(late).isEqualTo(early).last().isInstanceOf(Answered.class);
    }

    @Test
    void contendersAreWarmedUpAndThenTakeTurnsInBothDirections() throws Exception {
        Racing racing = new Racing();
        LabRun run = new Lab(List.of(racing)).start("racing", Map.of("rounds", "3"), Scale.NORMAL);

        Answer answer = run.answer().get(120, SECONDS);

        assertThat(racing.order).containsExactly("a warm", "b warm", "a", "b", "b", "a", "a", "b");
        assertThat(answer.row("a").figures().get("millis")).isEqualTo(new Answer.Figure(2, 1, 3));
        assertThat(answer.row("b").median("millis")).isEqualTo(10);
    }

    /** Waits until it is let go, or cancelled. */
    private final class Blocked implements Experiment {

        @Override
        public About about() {
            return LabTests.about("blocked");
        }

        @Override
        public Answer run(Run run) throws Exception {
            gate.await();
            return new Answer("Done.", List.of(), List.of(), List.of(), List.of());
        }
    }

    /** Takes 1, 2 and 3 ms with the first contender, and 10 with the second. */
    private static final class Racing implements Experiment {

        private final List<String> order = new ArrayList<>();
        private final AtomicInteger round = new AtomicInteger();

        @Override
        public About about() {
            return LabTests.about("racing");
        }

        @Override
        public Answer run(Run run) throws Exception {
            Contender a = new Contender("a", () -> did("a warm", 99), () -> did("a", round.incrementAndGet()));
            Contender b = new Contender("b", () -> did("b warm", 99), () -> did("b", 10));
            return new Answer("Done.", List.of(), run.compare(List.of(a, b)), List.of(), List.of());
        }

        private Measurement did(String what, double millis) {
            order.add(what);
            return Measurement.of("millis", millis);
        }
    }

    private static final class Broken implements Experiment {

        @Override
        public About about() {
            return LabTests.about("broken");
        }

        @Override
        public Answer run(Run run) throws Exception {
            throw new java.io.IOException("no socket");
        }
    }

    private static About about(String id) {
        return new About(
                id,
                Act.WAITING_IS_CHEAP,
                "Title of " + id,
                "?",
                List.of(),
                List.of(Parameter.ROUNDS),
                "Anything.",
                "",
                "",
                "",
                1,
                1,
                "");
    }
}
