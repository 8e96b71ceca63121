package com.acme.shop;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.TestPropertySource;

/** A queue that takes longer than half of the time that a call has. */
@ShopTest
@TestPropertySource(properties = "virtual-thread.limits.partner.reject-hopeless=true")
@Import(HopelessTests.Partner.class)
class HopelessTests {

    @Autowired
    Partner partner;

    @Test
    void aCallWithoutHopeIsRejectedAtOnce() throws Exception {
        CompletableFuture<String> gate = new CompletableFuture<>();
        List<CompletableFuture<String>> queue =
                Stream.generate(() -> gate).limit(1000).map(partner::ask).toList();
        queue.get(20).get(2, MINUTES); // the pace is known, and many still wait

        CompletableFuture<String> hopeless = partner.askInTime(gate);
        CompletableFuture<String> patient = partner.askWithPatience(gate);

        assertThat(hopeless)
                .isCompletedExceptionally()
                .failsWithin(2, MINUTES)
                .withThrowableThat()
                .havingCause()
                .isInstanceOfSatisfying(LimitExceededException.class, rejection -> assertThat(rejection.reason())
                        .isEqualTo(Reason.HOPELESS));
        gate.complete("done");
        assertThat(patient.get(2, MINUTES)).isEqualTo("done");
        assertThat(queue).allSatisfy(call -> assertThat(call.get(2, MINUTES)).isEqualTo("done"));
    }

    /** Each call takes a while, until the test has seen enough. */
    static class Partner {

        @VirtualThread("partner")
        public CompletableFuture<String> ask(CompletableFuture<String> gate) {
            return gate.copy().completeOnTimeout("done", 20, MILLISECONDS);
        }

        @VirtualThread(limit = "partner", deadline = "100ms")
        public CompletableFuture<String> askInTime(CompletableFuture<String> gate) {
            return ask(gate);
        }

        @VirtualThread(limit = "partner", deadline = "1h")
        public CompletableFuture<String> askWithPatience(CompletableFuture<String> gate) {
            return ask(gate);
        }
    }
}
