package io.github.virtualthread.sample.page;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.BDDMockito.given;

import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.partner.PartnerClient;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.web.servlet.client.RestTestClient;

@SampleTest
@TestPropertySource(
        properties = {"virtual-thread.limits.partner.permits=1", "virtual-thread.limits.partner.queue-capacity=0"})
class BusyPartnerTests {

    private final CountDownLatch partnerCalled = new CountDownLatch(1);
    private final CountDownLatch partnerAnswers = new CountDownLatch(1);

    @MockitoBean
    private PartnerClient partner;

    @Test
    void aPageThatThePartnersLimitRejectsIsUnavailableAndSaysWhenToComeBack(@Autowired RestTestClient client)
            throws Exception {
        given(partner.reviews(anyLong())).willAnswer(call -> {
            partnerCalled.countDown();
            assertThat(partnerAnswers.await(120, SECONDS)).isTrue();
            return List.of();
        });
        var first = CompletableFuture.runAsync(() -> get(client).expectStatus().isOk());
        assertThat(partnerCalled.await(120, SECONDS)).isTrue();

        get(client)
                .expectStatus()
                .isEqualTo(HttpStatus.SERVICE_UNAVAILABLE)
                .expectHeader()
                .valueEquals("Retry-After", "1")
                .expectHeader()
                .contentType(MediaType.APPLICATION_PROBLEM_JSON)
                .expectBody()
                .jsonPath("$.detail")
                .isEqualTo("The request cannot be served now. Try again in 1 s.");

        partnerAnswers.countDown();
        assertThat(first).succeedsWithin(120, SECONDS);
    }

    private static RestTestClient.ResponseSpec get(RestTestClient client) {
        return client.get().uri("/virtual/products/1").exchange();
    }
}
