package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Lab;
import io.github.virtualthread.sample.lab.LabRun;
import io.github.virtualthread.sample.lab.LabRun.Point;
import io.github.virtualthread.sample.lab.LabRun.Progress;
import io.github.virtualthread.sample.lab.Measurement;
import io.github.virtualthread.sample.lab.Settings.Scale;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.test.web.servlet.client.RestTestClient;

@SampleTest
@Tag("slow")
class ExplodingPoolTests {

    private static final String ID = "exploding-pool";

    private static final Duration LONG = Duration.ofMinutes(2);

    @Autowired
    private ExplodingPool experiment;

    @Autowired
    private Lab lab;

    @Autowired
    private VirtualThreads virtualThreads;

    private TaskLimit limit;
    private int permits;
    private Leftovers leftovers;

    @BeforeEach
    void remember(@Autowired TaskLimits limits, @Autowired WebServerApplicationContext context) {
        limit = limits.get("flood");
        permits = limit.permits();
        leftovers = new Leftovers(context);
    }

    @AfterEach
    void restore() {
        limit.resize(permits);
    }

    @Test
    void itCountsWhatIsAnsweredAndWhatIsDone() throws Exception {
        Answer answer = lab.start(
                        ID,
                        Map.of(
                                "requests",
                                "300",
                                "users",
                                "300",
                                "partner",
                                "100",
                                "timeout",
                                "60000",
                                "watch",
                                "1",
                                "rounds",
                                "1"),
                        Scale.SMALL)
                .answer()
                .get(10, TimeUnit.MINUTES);

        for (Row row : answer.rows()) {
            assertThat(row.median("answered")).as(row.name()).isEqualTo(300);
            assertThat(row.median("done") + row.median("rejected") + row.median("left"))
                    .as(row.name())
                    .isEqualTo(300);
        }
        for (String waits : List.of(ExplodingPool.VIRTUAL_WAITS, ExplodingPool.WEB_CLIENT, ExplodingPool.SYNC)) {
            assertThat(answer.row(waits).median("done")).as(waits).isEqualTo(300);
            assertThat(answer.row(waits).median("late")).as(waits).isZero();
            assertThat(answer.row(waits).median("p50")).as(waits).isGreaterThanOrEqualTo(100);
        }
        assertThat(answer.charts()).hasSize(7);
        assertThat(answer.charts().getFirst().lines().getFirst().points().getLast()[1])
                .isEqualTo(300);
        assertThat(answer.sentence()).startsWith("The pool of 50 answered 300 requests: ");
        leftovers.assertNone();
    }

    @Test
    void thePoolAnswersWhatItRejects() throws Exception {
        Map<String, Double> pool = measure(ExplodingPool.POOL, new Held(300), LONG);

        assertThat(pool)
                .containsEntry("answered", 300.0)
                .containsEntry("done", 150.0)
                .containsEntry("rejected", 150.0)
                .containsEntry("left", 0.0);
    }

    @Test
    void theQueueAnswersWhatItKeepsWaiting() throws Exception {
        Flood everybodyWaits = new Held(300) {
            @Override
            void clientIsGone(int request) {}
        };

        assertThat(measure(ExplodingPool.QUEUE, everybodyWaits, Duration.ofMillis(1)))
                .containsEntry("answered", 300.0)
                .containsEntry("done", 0.0)
                .containsEntry("rejected", 0.0)
                .containsEntry("left", 300.0);
        leftovers.assertNone();
    }

    @Test
    void aLimitLosesNothingButTheClientIsGone() throws Exception {
        limit.resize(8);

        assertThat(measure(ExplodingPool.VIRTUAL, new Held(300), LONG))
                .containsEntry("answered", 300.0)
                .containsEntry("done", 300.0)
                .containsEntry("rejected", 0.0)
                .containsEntry("late", 300.0);
    }

    @ParameterizedTest
    @ValueSource(strings = {ExplodingPool.VIRTUAL_WAITS, ExplodingPool.SYNC})
    void whatIsDoneForAClientThatHasGoneIsCounted(String waits) throws Exception {
        Held flood = new Held(100);

        Measurement measured = experiment.measure(waits, flood, new Tally(), 100, Duration.ofMillis(100), LONG);

        assertThat(measured.figures())
                .containsEntry("timedOut", 100.0)
                .containsEntry("answered", 0.0)
                .containsEntry("late", 100.0);
        leftovers.assertNone();
    }

    private Map<String, Double> measure(String way, Flood flood, Duration watch) throws Exception {
        return experiment
                .measure(way, flood, new Tally(), flood.requests(), LONG, watch)
                .figures();
    }

    @Test
    void aCancelledRunLeavesNoCallNoThreadAndNoPort() throws Exception {
        CountDownLatch waiting = new CountDownLatch(1);
        AtomicBoolean virtual = new AtomicBoolean();
        LabRun run =
                lab.start(ID, Map.of("requests", "100", "users", "100", "partner", "5000", "watch", "1"), Scale.SMALL);
        run.listen(event -> {
            if (event instanceof Progress progress
                    && progress.text().equals("Round 1 of 1: " + ExplodingPool.VIRTUAL)) {
                virtual.set(true);
            } else if (virtual.get()
                    && event instanceof Point point
                    && point.line().equals(FloodLines.BACKLOG)
                    && point.y() == 100) {
                waiting.countDown();
            }
        });
        assertThat(waiting.await(2, TimeUnit.MINUTES)).isTrue();

        run.cancel();

        assertThat(run.answer().handle((answer, failure) -> failure != null))
                .succeedsWithin(2, TimeUnit.MINUTES)
                .isEqualTo(true);
        assertThat(virtualThreads.awaitIdle(Duration.ofMinutes(2))).isTrue();
        assertThat(limit.waiting()).isZero();
        leftovers.assertNone();
    }

    @Test
    void requestsFromOutsideAreServedAndCountedToo(
            @Autowired RestTestClient client, @Autowired FloodRequests requests) {
        requests.belongTo(Flood.fromOutside());

        for (String way : List.of("pool", "queue", "virtual", "virtual-waits", "sync")) {
            client.get().uri("/lab/flood/" + way).exchange().expectStatus().isOk();
        }

        Flood.Counts counts = requests.counts();
        assertThat(counts.accepted()).isEqualTo(5);
        assertThat(counts.done()).as("those that are answered when done").isGreaterThanOrEqualTo(2);
        assertThat(counts.done() + counts.backlog()).isEqualTo(5);
        assertThat(counts.rejected()).isZero();
    }

    @Test
    void aNumberOutsideOfTheFloodIsRefused(@Autowired RestTestClient client) {
        client.get()
                .uri("/lab/flood/virtual?request=1")
                .exchange()
                .expectStatus()
                .isBadRequest();
    }

    /** Its partner answers when all clients are gone, with an answer or without. */
    private static class Held extends Flood {

        private final CountDownLatch clients;

        Held(int requests) {
            super(requests, Duration.ZERO);
            clients = new CountDownLatch(requests);
        }

        @Override
        void callPartner(int request) {
            try {
                clients.await();
                super.callPartner(request);
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        void clientIsGone(int request) {
            super.clientIsGone(request);
            clients.countDown();
        }
    }
}
