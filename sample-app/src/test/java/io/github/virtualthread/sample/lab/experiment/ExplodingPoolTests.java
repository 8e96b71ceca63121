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
import io.github.virtualthread.sample.lab.Settings.Scale;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.test.web.servlet.client.RestTestClient;

@SampleTest
@Timeout(60)
class ExplodingPoolTests {

    private static final String ID = "exploding-pool";

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
    void thePoolsAnswerWhatTheyDoNotDoAndALimitLosesNothing() throws Exception {
        limit.resize(300);

        Answer answer = lab.start(
                        ID,
                        Map.of("requests", "300", "users", "300", "partner", "600", "watch", "5", "rounds", "1"),
                        Scale.SMALL)
                .answer()
                .get(45, TimeUnit.SECONDS);

        for (Row row : answer.rows()) {
            assertThat(row.median("answered")).as(row.name()).isEqualTo(300);
        }
        Row pool = answer.row(ExplodingPool.POOL);
        assertThat(pool.median("rejected")).isPositive();
        assertThat(pool.median("done")).isLessThan(300).isGreaterThanOrEqualTo(150);
        assertThat(pool.median("done") + pool.median("rejected")).isEqualTo(300);
        Row queue = answer.row(ExplodingPool.QUEUE);
        assertThat(queue.median("rejected")).isZero();
        assertThat(queue.median("left")).isPositive();
        assertThat(queue.median("done") + queue.median("left")).isEqualTo(300);
        for (String complete : List.of(ExplodingPool.VIRTUAL, ExplodingPool.VIRTUAL_WAITS, ExplodingPool.SYNC)) {
            assertThat(answer.row(complete).median("done")).as(complete).isEqualTo(300);
            assertThat(answer.row(complete).median("rejected")).as(complete).isZero();
        }
        assertThat(answer.row(ExplodingPool.VIRTUAL).median("late")).isEqualTo(300);
        for (String waits : List.of(ExplodingPool.VIRTUAL_WAITS, ExplodingPool.SYNC)) {
            assertThat(answer.row(waits).median("late")).as(waits).isZero();
            assertThat(answer.row(waits).median("p50")).as(waits).isGreaterThanOrEqualTo(600);
        }
        assertThat(answer.charts()).hasSize(6);
        assertThat(answer.charts().getFirst().lines().getFirst().points().getLast()[1])
                .isEqualTo(300);
        assertThat(answer.sentence()).startsWith("The pool of 50 answered 300 requests, and ");
        leftovers.assertNone();
    }

    @Test
    void whatIsDoneForAClientThatHasGoneIsCounted() throws Exception {
        Answer answer = lab.start(
                        ID,
                        Map.of(
                                "requests",
                                "8",
                                "users",
                                "8",
                                "partner",
                                "500",
                                "timeout",
                                "100",
                                "watch",
                                "5",
                                "rounds",
                                "1"),
                        Scale.SMALL)
                .answer()
                .get(20, TimeUnit.SECONDS);

        for (String waits : List.of(ExplodingPool.VIRTUAL_WAITS, ExplodingPool.SYNC)) {
            assertThat(answer.row(waits).median("timedOut")).as(waits).isEqualTo(8);
            assertThat(answer.row(waits).median("answered")).as(waits).isZero();
            assertThat(answer.row(waits).median("late")).as(waits).isEqualTo(8);
        }
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
        assertThat(waiting.await(40, TimeUnit.SECONDS)).isTrue();

        run.cancel();

        assertThat(run.answer().handle((answer, failure) -> failure != null))
                .succeedsWithin(10, TimeUnit.SECONDS)
                .isEqualTo(true);
        assertThat(virtualThreads.awaitIdle(Duration.ofSeconds(5))).isTrue();
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
}
