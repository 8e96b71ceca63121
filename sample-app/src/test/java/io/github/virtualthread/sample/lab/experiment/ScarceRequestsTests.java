package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.sample.SampleTest;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.http.HttpStatus;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.web.servlet.client.RestTestClient;

@SampleTest
@TestPropertySource(properties = "scarce.connections=2")
class ScarceRequestsTests {

    private final CountDownLatch callsEnd = new CountDownLatch(1);
    private final Deque<Connection> taken = new ArrayDeque<>();

    @Autowired
    private RestTestClient client;

    @Autowired
    @Qualifier("scarcePool")
    private ScarcePool pool;

    private TaskLimit limit;

    @BeforeEach
    void find(@Autowired TaskLimits limits) {
        limit = limits.get("scarce");
    }

    @AfterEach
    void restore() throws Exception {
        callsEnd.countDown();
        while (!taken.isEmpty()) {
            taken.pop().close();
        }
        limit.setMaxWait(null);
        pool.reset();
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain", "concurrency-limit", "virtual", "limited"})
    void everyWayIsAnsweredWhileNoExperimentRuns(String way) {
        get(way, 1).expectStatus().isOk().expectBody(String.class).isEqualTo("done");
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain", "concurrency-limit", "virtual", "limited"})
    void aQueryThatWouldTakeTooLongIsRefused(String way) {
        get(way, 5_001)
                .expectStatus()
                .isBadRequest()
                .expectBody()
                .jsonPath("$.detail")
                .isEqualTo("millis must be from 0 to 5000, was 5001");
    }

    @ParameterizedTest
    @ValueSource(strings = {"virtual", "limited"})
    void aRejectionTellsToComeBack(String way, @Autowired VirtualThreads threads) throws Exception {
        CountDownLatch callsRun = new CountDownLatch(2);
        for (int i = 0; i < 2; i++) {
            CompletableFuture<Boolean> unused = threads.submit("scarce", () -> {
                callsRun.countDown();
                return callsEnd.await(2, TimeUnit.MINUTES);
            });
        }
        assertThat(callsRun.await(2, TimeUnit.MINUTES)).isTrue();
        limit.setMaxWait(Duration.ofMillis(1));

        get(way, 1)
                .expectStatus()
                .isEqualTo(HttpStatus.SERVICE_UNAVAILABLE)
                .expectHeader()
                .valueEquals("Retry-After", "1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain", "concurrency-limit", "virtual", "limited"})
    void whoGetsNoConnectionFailsAndIsNotRejected(String way) throws Exception {
        pool.waitFor(Duration.ofMillis(250));
        while (taken.size() < 2) {
            takeConnection();
        }

        get(way, 1)
                .expectStatus()
                .isEqualTo(HttpStatus.INTERNAL_SERVER_ERROR)
                .expectBody()
                .jsonPath("$.detail")
                .value(String.class, detail -> assertThat(detail).contains("scarce - Connection is not available"));
    }

    /** If there is one by now: on a busy machine a new one may not be there in time. */
    private void takeConnection() throws SQLException {
        try {
            taken.push(pool.getConnection());
        } catch (SQLTransientConnectionException notYet) {
            assertThat(notYet.getMessage()).contains("not available");
        }
    }

    @Test
    void springsOwnLimitHasTheSizeThatThePoolHasNow(@Autowired ScarceRequests requests) throws Exception {
        pool.resize(1);
        requests.renew();
        get("concurrency-limit", 1).expectStatus().isOk(); // at the first call it takes the size
        pool.resize(2); // else the pool alone would let one query wait for the other
        pool.waitFor(Duration.ofMinutes(2));

        long begin = System.nanoTime();
        CompletableFuture<?> first = CompletableFuture.runAsync(() -> get("concurrency-limit", 300));
        CompletableFuture<?> second = CompletableFuture.runAsync(() -> get("concurrency-limit", 300));
        CompletableFuture.allOf(first, second).get(10, TimeUnit.MINUTES);

        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(Duration.ofMillis(550));
        pool.reset();
        requests.renew();
    }

    private RestTestClient.ResponseSpec get(String way, int millis) {
        return client.get()
                .uri("/lab/scarce/{way}?millis={millis}", way, millis)
                .exchange();
    }
}
