package io.github.virtualthread.actuate;

import static io.github.virtualthread.actuate.EndpointApplication.open;
import static io.github.virtualthread.actuate.EndpointApplication.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.github.virtualthread.actuate.EndpointApplication.Answer;
import io.github.virtualthread.execution.BrokenLog;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** What DELETE does. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class EndCallsTests {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @Test
    void whatWaitsIsRejectedAndWhatRunsGoesOn(CapturedOutput output) {
        run(open(), it -> {
            CompletableFuture<String> held = it.hold();
            CompletableFuture<String> first = it.shop.price(() -> "waits");
            CompletableFuture<String> second = it.shop.price(() -> "waits");

            Answer answer = it.end("/price-db?all=true");

            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.<Map<String, Object>>get("$"))
                    .isEqualTo(Map.of("limit", "price-db", "rejected", 2, "cancelled", 0));
            assertThat(List.of(first, second)).allSatisfy(call -> assertThat(call)
                    .failsWithin(Duration.ofMinutes(2))
                    .withThrowableThat()
                    .havingCause()
                    .isInstanceOfSatisfying(LimitExceededException.class, rejection -> assertThat(rejection.reason())
                            .isEqualTo(Reason.EVICTED)));
            assertThat(held).isNotDone();
            assertThat(it.read("").<Integer>get("$.limits[0].rejected.EVICTED")).isEqualTo(2);
        });
        assertThat(output.getAll().lines().filter(line -> line.contains("by ENDPOINT")))
                .singleElement()
                .asString()
                .contains("WARN", "Limit 'price-db': 2 waiting calls rejected by ENDPOINT");
    }

    @Test
    void aBrokenLogCostsNoAnswer() {
        run(open(), it -> {
            CompletableFuture<String> held = it.hold();
            CompletableFuture<String> waiting = it.shop.price(() -> "waits");
            Integer id = it.read("/price-db").get("$.calls[0].id");
            try (BrokenLog broken = new BrokenLog(VirtualThreadsEndpoint.class)) {
                Answer evicted = it.end("/price-db?all=true");
                Answer cancelled = it.end("/price-db?id=" + id);

                assertThat(broken.strikes()).isEqualTo(2);
                assertThat(evicted.<Integer>get("$.rejected")).isEqualTo(1);
                assertThat(cancelled.<Integer>get("$.cancelled")).isEqualTo(1);
            }
            assertThat(waiting).failsWithin(Duration.ofMinutes(2));
            assertThat(held).isCancelled();
        });
    }

    @Test
    void toCancelOneOfManyCallsCopiesNoQueue() {
        run(open(), it -> {
            it.hold();
            for (int i = 0; i < 50_000; i++) {
                it.shop.price(() -> "waits");
            }
            CompletableFuture<String> last = it.shop.price(() -> "last");
            Integer id = it.read("/price-db").get("$.calls[1].id");
            Integer next = it.read("/price-db").get("$.calls[2].id");
            VirtualThreadsEndpoint endpoint = it.bean(VirtualThreadsEndpoint.class);
            endpoint.end("price-db", String.valueOf(id), null); // classes are loaded

            long before = THREADS.getCurrentThreadAllocatedBytes();
            endpoint.end("price-db", String.valueOf(next), null);
            assertThatThrownBy(() -> endpoint.end("price-db", String.valueOf(id), null))
                    .hasMessage("No call %d is waiting or running under limit 'price-db'".formatted(id));
            long bytes = THREADS.getCurrentThreadAllocatedBytes() - before;

            assertThat(bytes).isLessThan(200_000); // a reference to each would be that much alone
            assertThat(last).isNotDone();
        });
    }

    @Test
    void toRejectAllHasToBeAskedFor(CapturedOutput output) {
        run(open(), it -> {
            it.hold();
            CompletableFuture<String> waiting = it.shop.price(() -> "waits");

            for (String nothing : List.of("", "?", "?all=false")) {
                it.end("/price-db" + nothing)
                        .assertRefused(
                                400,
                                "Nothing to end: send ?id= with the number of a call to cancel that call,"
                                        + " or ?all=true to reject all waiting calls");
            }
            for (String wrong : List.of("", "yes", "1")) {
                it.end("/price-db?all=" + wrong)
                        .assertRefused(400, "all must be true or false, was '%s'".formatted(wrong));
            }
            it.end("/price-db?all=true&id=1").assertRefused(400, "[id, all] were sent: send only one of them");
            assertThat(waiting).isNotDone();
        });
        assertThat(output).doesNotContain("by ENDPOINT");
    }

    @Test
    void anUnknownParameterIsRefusedAndTheKnownAreNamed(CapturedOutput output) {
        run(open().withPropertyValues("virtual-thread.limits.report.permits=1"), it -> {
            it.hold();
            CompletableFuture<String> waiting = it.shop.price(() -> "waits");

            for (String unknown : List.of("call", "_", "limit")) {
                it.end("/price-db?all=true&" + unknown + "=report")
                        .assertRefused(
                                400, "Unknown parameters [%s]; known parameters are [id, all]".formatted(unknown));
            }
            it.end("/price-db?ID=1&id=1").assertRefused(400, "id is given more than once");
            assertThat(waiting).isNotDone();
        });
        assertThat(output).doesNotContain("by ENDPOINT");
    }

    @Test
    void theCaseOfAParameterDoesNotMatter() {
        run(open(), it -> {
            CompletableFuture<String> held = it.hold();

            it.end("/price-db?ID=" + it.read("/price-db").get("$.calls[0].id"));

            assertThat(held).isCancelled();
        });
    }

    @Test
    void aRunningCallIsCancelledByItsNumber(CapturedOutput output) {
        run(open(), it -> {
            CompletableFuture<String> held = it.hold();
            Integer id = it.read("/price-db").get("$.calls[0].id");

            Answer answer = it.end("/priceDb?id=" + id);

            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.<Map<String, Object>>get("$"))
                    .isEqualTo(Map.of("limit", "price-db", "rejected", 0, "cancelled", 1));
            assertThat(held).isCancelled();
            assertThat(it.shop.price(() -> "next"))
                    .succeedsWithin(Duration.ofMinutes(2))
                    .isEqualTo("next");
            assertThat(output.getAll().lines().filter(line -> line.contains("by ENDPOINT")))
                    .singleElement()
                    .asString()
                    .contains("INFO", "Limit 'price-db': call %d of Shop.price cancelled by ENDPOINT".formatted(id));
        });
    }

    @Test
    void aWaitingCallIsCancelledByItsNumberAndTheOthersWaitOn() {
        run(open(), it -> {
            it.hold();
            CompletableFuture<String> first = it.shop.price(() -> "first");
            CompletableFuture<String> second = it.shop.price(() -> "second");

            it.end("/price-db?id=" + it.read("/price-db").get("$.calls[1].id"));

            assertThat(first).isCancelled();
            assertThat(second).isNotDone();
            assertThat(it.limit().waiting()).isEqualTo(1);
        });
    }

    @Test
    void aCallWithoutALimitIsCancelledUnderNone() {
        run(open(), it -> {
            CompletableFuture<String> mail = it.hold(it.shop::mail);

            Answer answer = it.end("/none?id=" + it.read("/none").get("$.calls[0].id"));

            assertThat(answer.status()).isEqualTo(200);
            assertThat(mail).isCancelled();
        });
    }

    @Test
    void withoutANumberNothingEndsUnderNone() {
        run(open(), it -> {
            for (String all : List.of("", "?all=true")) {
                Answer answer = it.end("/none" + all);

                assertThat(answer.status()).isEqualTo(400);
                assertThat(answer.message()).startsWith("Calls without a limit never wait");
            }
        });
    }

    @Test
    void anUnknownNumberIs404AndNoNumberIs400() {
        run(open().withPropertyValues("virtual-thread.limits.mail.permits=1"), it -> {
            CompletableFuture<String> held = it.hold();
            Integer id = it.read("/price-db").get("$.calls[0].id");

            assertThat(it.end("/price-db?id=" + Long.MAX_VALUE).message())
                    .isEqualTo("No call %d is waiting or running under limit 'price-db'".formatted(Long.MAX_VALUE));
            for (String other : List.of("/mail", "/none")) {
                Answer answer = it.end(other + "?id=" + id);
                assertThat(answer.status()).isEqualTo(404);
                assertThat(answer.message()).startsWith("No call %d is waiting or running under".formatted(id));
            }
            for (String wrong : List.of("0", "-1", "all", "")) {
                Answer answer = it.end("/price-db?id=" + wrong);
                assertThat(answer.status()).as(wrong).isEqualTo(400);
                assertThat(answer.message()).startsWith("id must be a whole number from 1 to ");
            }
            assertThat(held).isNotDone();
        });
    }

    @Test
    void aCallOnItsCallersThreadCannotBeCancelled() {
        run(open(), it -> {
            String answered = it.shop.stock(() -> {
                Answer answer = it.end("/price-db?id=" + it.read("/price-db").get("$.calls[0].id"));
                return answer.status() + " " + answer.message();
            });

            assertThat(answered)
                    .startsWith("400 Call ")
                    .endsWith("of Shop.stock uses its caller's own thread, which cannot be interrupted from outside");
        });
    }
}
