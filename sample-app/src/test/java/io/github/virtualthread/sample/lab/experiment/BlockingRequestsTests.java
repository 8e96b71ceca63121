package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Lab;
import io.github.virtualthread.sample.lab.LabRun;
import io.github.virtualthread.sample.lab.LabRun.Began;
import io.github.virtualthread.sample.lab.LabRun.Event;
import io.github.virtualthread.sample.lab.LabRun.Point;
import io.github.virtualthread.sample.lab.Settings.Scale;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.test.web.servlet.client.RestTestClient;

@SampleTest
class BlockingRequestsTests {

    private static final String ID = "blocking-requests";

    @Autowired
    private Lab lab;

    private Leftovers leftovers;

    @BeforeEach
    void remember(@Autowired WebServerApplicationContext context) {
        leftovers = new Leftovers(context);
    }

    @Test
    void whereRequestsBlockThePoolTakesTurnsAndVirtualThreadsOne() throws Exception {
        List<Event> events = new CopyOnWriteArrayList<>();
        LabRun run = lab.start(ID, Map.of("users", "600", "millis", "800", "rounds", "1"), Scale.SMALL);
        run.listen(events::add);

        Answer answer = run.answer().get(20, TimeUnit.SECONDS);

        for (Answer.Row row : answer.rows()) {
            assertThat(row.median("answered")).as(row.name()).isEqualTo(600);
            assertThat(row.median("failed") + row.median("timedOut"))
                    .as(row.name())
                    .isZero();
        }
        // three turns of 200 threads
        assertThat(answer.row(BlockingRequests.PLATFORM_BLOCK).median("most")).isGreaterThanOrEqualTo(3 * 800);
        assertThat(answer.row(BlockingRequests.VIRTUAL_BLOCK).median("most"))
                .isGreaterThanOrEqualTo(800)
                .isLessThan(answer.row(BlockingRequests.PLATFORM_BLOCK).median("most"));
        assertThat(answer.row(BlockingRequests.VIRTUAL_BLOCK).median("rate"))
                .isGreaterThan(answer.row(BlockingRequests.PLATFORM_BLOCK).median("rate"));
        assertThat(answer.sentence()).startsWith("Where a request blocks 800 ms, virtual threads answered ");
        assertThat(answer.notes().getFirst()).startsWith("Load generator and server share ");
        assertThat(events).contains(new Began(BlockingRequests.VIRTUAL_QUICK));
        assertThat(events.stream().filter(Point.class::isInstance).map(Point.class::cast))
                .filteredOn(point -> point.line().equals(BlockingRequests.VIRTUAL_BLOCK))
                .last()
                .extracting(Point::y)
                .isEqualTo(600.0);
        leftovers.assertNone();
    }

    @Test
    void aUserWhoWaitsInVainIsNoSuccess() throws Exception {
        Answer answer = lab.start(
                        ID, Map.of("users", "10", "millis", "5000", "timeout", "200", "rounds", "1"), Scale.SMALL)
                .answer()
                .get(20, TimeUnit.SECONDS);

        for (String blocked : List.of(BlockingRequests.PLATFORM_BLOCK, BlockingRequests.VIRTUAL_BLOCK)) {
            assertThat(answer.row(blocked).median("timedOut")).as(blocked).isEqualTo(10);
            assertThat(answer.row(blocked).median("answered")).as(blocked).isZero();
            assertThat(answer.row(blocked).figures()).as(blocked).doesNotContainKey("p50");
        }
        assertThat(answer.row(BlockingRequests.VIRTUAL_QUICK).median("answered"))
                .isEqualTo(10);
        leftovers.assertNone();
    }

    @Test
    void aCancelledRunLeavesNoThreadAndNoPort() throws Exception {
        CountDownLatch blocked = new CountDownLatch(4); // drawn at intervals: by now requests are served
        LabRun run = lab.start(ID, Map.of("users", "300", "millis", "5000", "timeout", "60000"), Scale.SMALL);
        run.listen(event -> {
            if (event instanceof Point point && point.line().equals(BlockingRequests.PLATFORM_BLOCK)) {
                blocked.countDown();
            }
        });
        assertThat(blocked.await(15, TimeUnit.SECONDS)).isTrue();

        run.cancel();

        assertThat(run.answer().handle((answer, failure) -> failure != null))
                .succeedsWithin(10, TimeUnit.SECONDS)
                .isEqualTo(true);
        leftovers.assertNone();
    }

    @Test
    void aRequestThatWouldBlockForTooLongIsRefused(@Autowired RestTestClient client) {
        client.get()
                .uri("/lab/requests/block?millis=5001")
                .exchange()
                .expectStatus()
                .isBadRequest()
                .expectBody()
                .jsonPath("$.detail")
                .isEqualTo("millis must be from 0 to 5000, was 5001");
    }
}
