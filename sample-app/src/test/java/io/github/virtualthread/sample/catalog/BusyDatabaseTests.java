package io.github.virtualthread.sample.catalog;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.sample.SampleTest;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.web.servlet.client.RestTestClient;

@SampleTest
@TestPropertySource(
        properties = {
            "virtual-thread.limits.db.permits-from=",
            "virtual-thread.limits.db.permits=1",
            "virtual-thread.limits.db.queue-capacity=0"
        })
@Tag("slow")
class BusyDatabaseTests {

    private final CountDownLatch queryRuns = new CountDownLatch(1);
    private final CountDownLatch queryEnds = new CountDownLatch(1);

    @AfterEach
    void endQuery() {
        queryEnds.countDown();
    }

    @Test
    void aProductThatFindsTheDatabaseBusyIsNotAddedUntilItComesAgain(
            @Autowired VirtualThreads threads, @Autowired RestTestClient client) throws Exception {
        CompletableFuture<Boolean> query = threads.submit("db", () -> {
            queryRuns.countDown();
            return queryEnds.await(120, SECONDS);
        });
        assertThat(queryRuns.await(120, SECONDS)).isTrue();

        add(client)
                .expectStatus()
                .isEqualTo(HttpStatus.SERVICE_UNAVAILABLE)
                .expectHeader()
                .valueEquals("Retry-After", "1")
                .expectHeader()
                .contentType(MediaType.APPLICATION_PROBLEM_JSON)
                .expectBody()
                .jsonPath("$.detail")
                .isEqualTo("The request cannot be served now. Try again in 1 s.");

        queryEnds.countDown();
        assertThat(query).succeedsWithin(120, SECONDS).isEqualTo(true);
        add(client).expectStatus().isCreated();
    }

    private static RestTestClient.ResponseSpec add(RestTestClient client) {
        return client.post()
                .uri("/products")
                .contentType(MediaType.APPLICATION_JSON)
                .body("""
                        {"name": "Teapot", "price": 24.50, "stock": 5}""")
                .exchange();
    }
}
