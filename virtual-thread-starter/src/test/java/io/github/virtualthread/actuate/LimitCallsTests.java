package io.github.virtualthread.actuate;

import static io.github.virtualthread.actuate.EndpointApplication.await;
import static io.github.virtualthread.actuate.EndpointApplication.open;
import static io.github.virtualthread.actuate.EndpointApplication.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.github.virtualthread.actuate.EndpointApplication.Answer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.MDC;

/** What GET shows of one limit and its calls. */
@Timeout(300)
class LimitCallsTests {

    @AfterEach
    void clear() {
        MDC.clear();
    }

    @Test
    void aLimitIsFoundInAnySpelling() {
        run(open(), it -> {
            for (String spelling : List.of("price-db", "PRICEDB", "priceDb", "price_db")) {
                assertThat(it.read("/" + spelling).<String>get("$.limit.name")).isEqualTo("price-db");
            }
        });
    }

    @Test
    void runningCallsComeFirstAndTheOldestOfThem() {
        run(open().withPropertyValues("virtual-thread.limits.price-db.permits=2"), it -> {
            it.hold();
            it.hold();
            it.shop.price(() -> "waits");

            Answer answer = it.read("/price-db");

            assertThat(answer.<List<String>>get("$.calls[*].state")).containsExactly("running", "running", "waiting");
            assertThat(answer.<List<String>>get("$.calls[*].thread"))
                    .containsExactly("vt-Shop.price-1", "vt-Shop.price-2");
            assertThat(answer.<List<String>>get("$.calls[*].method")).containsOnly("Shop.price");
            assertThat(answer.<List<Double>>get("$.calls[*].ageSeconds"))
                    .hasSize(3)
                    .allSatisfy(age -> assertThat(age).isBetween(0.0, 30.0));
            assertThat(answer.<List<Integer>>get("$.calls[*].id")).doesNotHaveDuplicates();
        });
    }

    @Test
    void aRunningCallShowsWhereItIs() {
        run(open(), it -> {
            CountDownLatch running = new CountDownLatch(1);
            it.shop.price(() -> query(running, it.gate));
            await(running);
            it.shop.price(() -> "waits");

            Answer answer = Awaitility.await()
                    .atMost(2, TimeUnit.MINUTES)
                    .until(() -> it.read("/price-db"), read -> read.<List<String>>get("$.calls[0].stack").stream()
                            .anyMatch(frame -> frame.contains("CountDownLatch.await(")));

            List<String> stack = answer.get("$.calls[0].stack");
            assertThat(stack)
                    .hasSizeBetween(15, 25)
                    .anyMatch(frame -> frame.startsWith("java.base/java.util.concurrent.CountDownLatch.await("))
                    .anyMatch(frame -> frame.contains("LimitCallsTests$Driver.read("))
                    .anyMatch(frame -> frame.matches("\\.\\.\\. \\d+ frames \\.\\.\\."))
                    .anyMatch(frame -> frame.contains("LimitCallsTests.query("))
                    .noneMatch(frame -> frame.contains("io.github.virtualthread.execution"));
            assertThat(stack.get(stack.size() - 1)).contains("EndpointApplication$Shop.price(");
            assertThat(answer.<Map<String, Object>>get("$.calls[1]")).doesNotContainKeys("stack", "thread");
        });
    }

    @Test
    void aCallShowsTheTraceAndTheChosenKeysOfItsCaller() {
        run(open().withPropertyValues("virtual-thread.endpoint.mdc-keys=user,tenant"), it -> {
            MDC.put("traceId", "803B448A0489F84084905D3093480352");
            MDC.put("user", "alice");
            MDC.put("password", "secret");
            it.hold();

            Answer answer = it.read("/price-db");

            assertThat(answer.<String>get("$.calls[0].traceId")).isEqualTo("803B448A0489F84084905D3093480352");
            assertThat(answer.<Map<String, String>>get("$.calls[0].mdc")).containsExactly(entry("user", "alice"));
            assertThat(answer.body()).doesNotContain("secret");
        });
    }

    @Test
    void withoutChosenKeysNoneIsShown() {
        run(open(), it -> {
            MDC.put("user", "alice");
            it.hold();

            assertThat(it.read("/price-db").<Map<String, String>>get("$.calls[0].mdc"))
                    .isEmpty();
        });
    }

    @Test
    void noneShowsCallsWithoutALimit() {
        run(open(), it -> {
            it.hold();
            it.hold(it.shop::mail);

            Answer answer = it.read("/none");

            assertThat(answer.<List<String>>get("$.calls[*].method")).containsExactly("Shop.mail");
            assertThat(answer.<Map<String, Object>>get("$")).doesNotContainKey("limit");
        });
    }

    @Test
    void atMostAHundredCallsAreShownUnlessMoreAreAskedFor() {
        run(open(), it -> {
            it.hold();
            for (int i = 0; i < 120; i++) {
                it.shop.price(() -> "waits");
            }

            assertThat(shown(it.read("/price-db"))).isEqualTo(100);
            assertThat(it.read("/price-db").<Integer>get("$.more")).isEqualTo(21);
            assertThat(shown(it.read("/price-db?max=110"))).isEqualTo(110);
            assertThat(shown(it.read("/price-db?max=1"))).isEqualTo(1);
            Answer all = it.read("/price-db?max=10000");
            assertThat(shown(all)).isEqualTo(121);
            assertThat(all.<Integer>get("$.more")).isZero();
        });
    }

    @Test
    void moreCallsThanAllowedOrNoNumberAre400() {
        run(open(), it -> {
            for (String max : List.of("0", "-1", "10001", "many", "1.5", "")) {
                it.read("/price-db?max=" + max)
                        .assertRefused(400, "max must be a whole number from 1 to 10000, was '%s'".formatted(max));
            }
        });
    }

    @Test
    void anUnknownParameterIs400() {
        run(open(), it -> {
            it.read("/price-db?most=1")
                    .assertRefused(400, "Unknown parameters [most]; known parameters are [max, key]");
            assertThat(it.read("/price-db?limit=db").status()).isEqualTo(400);
        });
    }

    @Test
    void aCallOnItsCallersThreadIsShownToo() {
        run(open(), it -> {
            String body = it.shop.stock(() -> it.read("/price-db").body());

            Answer answer = new Answer(200, body);
            assertThat(answer.<List<String>>get("$.calls[*].method")).containsExactly("Shop.stock");
            assertThat(answer.<String>get("$.calls[0].thread"))
                    .isEqualTo(Thread.currentThread().getName());
        });
    }

    private static String query(CountDownLatch running, CountDownLatch gate) throws InterruptedException {
        return Driver.read(60, running, gate);
    }

    private static final class Driver {

        static String read(int frames, CountDownLatch running, CountDownLatch gate) throws InterruptedException {
            if (frames > 0) {
                return read(frames - 1, running, gate);
            }
            running.countDown();
            gate.await();
            return "";
        }
    }

    private static int shown(Answer answer) {
        return answer.<List<?>>get("$.calls").size();
    }
}
