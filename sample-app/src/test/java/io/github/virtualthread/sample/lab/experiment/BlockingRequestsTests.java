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
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.test.web.servlet.client.RestTestClient;
import org.springframework.web.filter.OncePerRequestFilter;

@SampleTest
@Import(BlockingRequestsTests.Meeting.class)
@Tag("slow")
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
    void whereRequestsBlockThePoolTakesTurnsAndVirtualThreadsOne(@Autowired Meeting meeting) throws Exception {
        List<Event> events = new CopyOnWriteArrayList<>();
        LabRun run =
                lab.start(ID, Map.of("users", "600", "millis", "200", "timeout", "60000", "rounds", "1"), Scale.SMALL);
        run.listen(events::add);

        Answer answer = run.answer().get(10, TimeUnit.MINUTES);

        for (Answer.Row row : answer.rows()) {
            assertThat(row.median("answered")).as(row.name()).isEqualTo(600);
            assertThat(row.median("failed") + row.median("timedOut"))
                    .as(row.name())
                    .isZero();
        }
        assertThat(meeting.mostOnPlatformThreads()).isEqualTo(200);
        assertThat(meeting.allOnVirtualThreads()).isTrue();
        // three turns of 200 threads
        assertThat(answer.row(BlockingRequests.PLATFORM_BLOCK).median("rate")).isLessThanOrEqualTo(600 / (3 * 0.2));
        assertThat(answer.row(BlockingRequests.VIRTUAL_BLOCK).median("most")).isGreaterThanOrEqualTo(200);
        assertThat(answer.sentence()).startsWith("Of requests that block for 200 ms, virtual threads answered ");
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
                .get(10, TimeUnit.MINUTES);

        for (String blocked : List.of(BlockingRequests.PLATFORM_BLOCK, BlockingRequests.VIRTUAL_BLOCK)) {
            assertThat(answer.row(blocked).median("timedOut")).as(blocked).isEqualTo(10);
            assertThat(answer.row(blocked).median("answered")).as(blocked).isZero();
            assertThat(answer.row(blocked).figures()).as(blocked).doesNotContainKey("p50");
        }
        // on a busy machine a quick request may take as long
        Answer.Row quick = answer.row(BlockingRequests.VIRTUAL_QUICK);
        assertThat(quick.median("answered") + quick.median("timedOut")).isEqualTo(10);
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
        assertThat(blocked.await(2, TimeUnit.MINUTES)).isTrue();

        run.cancel();

        assertThat(run.answer().handle((answer, failure) -> failure != null))
                .succeedsWithin(2, TimeUnit.MINUTES)
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

    /** Lets the first requests of the run go on when as many are served at once as can be. */
    static final class Meeting extends OncePerRequestFilter {

        private final CountDownLatch pool = new CountDownLatch(200);
        private final CountDownLatch users = new CountDownLatch(600);
        private final AtomicInteger onPlatformThreads = new AtomicInteger();
        private final AtomicInteger most = new AtomicInteger();

        @Override
        protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                throws ServletException, IOException {
            if (!"200".equals(request.getParameter("millis"))) {
                chain.doFilter(request, response);
            } else if (Thread.currentThread().isVirtual()) {
                meet(users);
                chain.doFilter(request, response);
            } else {
                most.accumulateAndGet(onPlatformThreads.incrementAndGet(), Math::max);
                try {
                    meet(pool);
                    chain.doFilter(request, response);
                } finally {
                    onPlatformThreads.decrementAndGet();
                }
            }
        }

        private static void meet(CountDownLatch all) {
            all.countDown();
            try {
                boolean unused = all.await(2, TimeUnit.MINUTES);
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            }
        }

        int mostOnPlatformThreads() {
            return most.get();
        }

        boolean allOnVirtualThreads() {
            return users.getCount() == 0;
        }
    }
}
