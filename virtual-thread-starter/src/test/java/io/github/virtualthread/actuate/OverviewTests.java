package io.github.virtualthread.actuate;

import static io.github.virtualthread.actuate.EndpointApplication.await;
import static io.github.virtualthread.actuate.EndpointApplication.open;
import static io.github.virtualthread.actuate.EndpointApplication.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.assertj.core.api.Assertions.tuple;

import io.github.virtualthread.actuate.EndpointApplication.Answer;
import io.github.virtualthread.execution.CallScope;
import io.github.virtualthread.execution.Calls;
import io.github.virtualthread.limit.Jam;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.PermitsSource;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What GET shows of all limits and methods. */
@Timeout(300)
class OverviewTests {

    private static final String METHOD = "$.methods[?(@.name == '%s')].%s";

    @Test
    void aMethodThatWasNeverCalledIsThereWithZeros() {
        run(open(), it -> {
            Answer answer = it.read("");

            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.<List<Map<String, Object>>>get("$.methods"))
                    .extracting(method -> method.get("name"))
                    .containsExactly("Shop.mail", "Shop.price", "Shop.stock");
            assertThat(answer.<Map<String, Object>>get("$.methods[1]"))
                    .containsExactly(
                            entry("name", "Shop.price"),
                            entry("limit", "price-db"),
                            entry("timeoutSeconds", 30.0),
                            entry("active", 0),
                            entry("done", 0),
                            entry("failed", 0),
                            entry("rejected", 0));
            assertThat(answer.<Map<String, Object>>get("$.methods[0]"))
                    .containsEntry("limit", "none")
                    .doesNotContainKey("timeoutSeconds");
        });
    }

    @Test
    void aLimitThatOnlyWatchesShowsWhatItWouldHaveDone() {
        run(
                open().withPropertyValues(
                                "virtual-thread.limits.price-db.permits=2",
                                "virtual-thread.limits.price-db.queue-capacity=1",
                                "virtual-thread.limits.price-db.dry-run=true"),
                it -> {
                    for (int i = 0; i < 4; i++) {
                        it.hold();
                    }

                    Map<String, Object> limit = it.firstLimit();
                    assertThat(limit).containsEntry("inUse", 4).containsEntry("available", 0);
                    assertThat(limit).containsEntry("waiting", 0).containsEntry("mostInUse", 4);
                    assertThat(it.read("").<Map<String, Object>>get("$.limits[0].dryRun"))
                            .containsOnlyKeys("half", "same", "double");
                    assertThat(it.read("").<Map<String, Object>>get("$.limits[0].dryRun.same"))
                            .containsExactly(
                                    entry("permits", 2),
                                    entry("calls", 4),
                                    entry("waitedPart", 0.25),
                                    entry("medianWaitSeconds", 0.0),
                                    entry("p99WaitSeconds", 0.0),
                                    entry("longestWaitSeconds", 0.0),
                                    entry("rejected", 1),
                                    entry("mostWaiting", 1));
                });
    }

    @Test
    void methodsShowTheirDeadline() {
        run(open().withPropertyValues(deadline("price", "90s"), deadline("stock", "250ms")), it -> {
            Answer answer = it.read("");

            assertThat(answer.<Map<String, Object>>get("$.methods[0]")).doesNotContainKey("deadlineSeconds");
            assertThat(method(answer, "Shop.price", "timeoutSeconds")).isEqualTo(30.0);
            assertThat(method(answer, "Shop.price", "deadlineSeconds")).isEqualTo(90.0);
            assertThat(answer.<Map<String, Object>>get("$.methods[2]"))
                    .containsEntry("deadlineSeconds", 0.25)
                    .doesNotContainKey("timeoutSeconds");
        });
    }

    private static String deadline(String method, String length) {
        return "virtual-thread.methods[%s.%s].deadline=%s"
                .formatted(EndpointApplication.Shop.class.getName(), method, length);
    }

    @Test
    void methodsThatAreNotInterceptedAreNotThere() {
        run(
                open().withPropertyValues("virtual-thread.enabled=false"),
                it -> assertThat(it.read("").<List<?>>get("$.methods")).isEmpty());
    }

    @Test
    void methodsTellHowTheirCallsHaveEnded() {
        run(open().withPropertyValues("virtual-thread.limits.price-db.queue-capacity=0"), it -> {
            it.shop.price(() -> "1").get(2, TimeUnit.MINUTES);
            settle(it.shop.price(() -> {
                throw new IOException("broken");
            }));
            CompletableFuture<String> held = it.hold();
            settle(it.shop.price(() -> "refused"));

            Answer answer = it.read("");
            assertThat(method(answer, "Shop.price", "active")).isEqualTo(1);
            assertThat(method(answer, "Shop.price", "done")).isEqualTo(1);
            assertThat(method(answer, "Shop.price", "failed")).isEqualTo(1);
            assertThat(method(answer, "Shop.price", "rejected")).isEqualTo(1);

            held.cancel(true);
            awaitEnd(it);
            assertThat(method(it.read(""), "Shop.price", "failed")).isEqualTo(2);
        });
    }

    @Test
    void callsByHandAreThereOnceTheyWereMade() {
        run(open(), it -> {
            it.byHand.submit("price-db", () -> "by hand").get(2, TimeUnit.MINUTES);
            it.byHand.submit(() -> "by hand").get(2, TimeUnit.MINUTES);

            assertThat(it.read("").<List<Map<String, Object>>>get("$.methods"))
                    .filteredOn(method -> method.get("name").equals("OverviewTests.lambda"))
                    .extracting(method -> method.get("limit"), method -> method.get("done"))
                    .containsExactly(tuple("none", 1), tuple("price-db", 1));
        });
    }

    @Test
    void aCallByHandIsThereWhileItRuns() {
        run(open(), it -> {
            it.hold(body -> it.byHand.submit("price-db", body));

            assertThat(method(it.read(""), "EndpointApplication.lambda", "active"))
                    .isEqualTo(1);
        });
    }

    @Test
    void aLimitShowsThePoolThatItsPermitsAreTakenFrom() {
        run(
                open().withBean("partnerPool", PermitsSource.class, () -> () -> 20)
                        .withPropertyValues(
                                "virtual-thread.limits.price-db.permits=",
                                "virtual-thread.limits.price-db.permits-from=partnerPool",
                                "virtual-thread.limits.price-db.headroom=2"),
                it -> assertThat(it.firstLimit())
                        .containsEntry("permits", 18)
                        .containsEntry("permitsFrom", Map.of("bean", "partnerPool", "headroom", 2)));
    }

    @Test
    void whatTheApplicationMakesOfJsonIsNoMatterOfTheEndpoint() {
        run(open().withPropertyValues("spring.jackson.property-naming-strategy=SNAKE_CASE"), it -> {
            assertThat(it.read("").body()).contains("saturatedForSeconds").doesNotContain("null");
            assertThat(it.read("/price-db").body())
                    .contains("saturatedForSeconds")
                    .doesNotContain("null");
            assertThat(it.write("/price-db", "{\"permits\": 1}").body())
                    .contains("saturatedForSeconds")
                    .doesNotContain("null");
        });
    }

    @Test
    void anIdleLimitShowsItsSettings() {
        run(
                open().withPropertyValues(
                                "virtual-thread.limits.price-db.max-wait=1500ms",
                                "virtual-thread.limits.price-db.queue-capacity=50",
                                "virtual-thread.limits.price-db.nested=fail"),
                it -> assertThat(it.read("").body()).contains("""
                        "limits":[{"name":"price-db","permits":1,"queueCapacity":50,"maxWaitSeconds":1.5,"nested":"FAIL",\
                        "inUse":0,"available":1,"waiting":0,"saturatedForSeconds":0.0,"abandoned":0,"rejected":{"QUEUE_FULL":0,\
                        "KEY_QUEUE_FULL":0,"WAIT_TIMEOUT":0,"DEADLINE":0,"NESTED":0,"EVICTED":0,"SHUTDOWN":0}}]"""));
    }

    @Test
    void aLimitThatRejectsHopelessCallsShowsTheExpectedWait() {
        run(open().withPropertyValues("virtual-thread.limits.price-db.reject-hopeless=true"), it -> {
            assertThat(it.firstLimit()).doesNotContainKey("expectedWaitSeconds");
            assertThat(it.read("").<Integer>get("$.limits[0].rejected.HOPELESS"))
                    .isZero();

            TaskLimit limit = it.bean(TaskLimits.class).get("price-db");
            try (Jam jam = new Jam(limit, Duration.ofSeconds(5))) {
                assertThat(it.read("").<Double>get("$.limits[0].expectedWaitSeconds"))
                        .isGreaterThanOrEqualTo(5);
            }
        });
    }

    /** Only where requests end with their client. */
    @Test
    void callsWhoseClientHasGoneAreShownOnceThereIsOne() {
        run(open(), it -> {
            assertThat(it.read("").body()).doesNotContain("CLIENT_GONE");
            CallScope scope = new CallScope();
            scope.clientGone();

            assertThat(Calls.callBy(scope.deadline(null), () -> it.shop.price(() -> "never")))
                    .isCompletedExceptionally();

            assertThat(it.read("").<Integer>get("$.limits[0].rejected.CLIENT_GONE"))
                    .isOne();
        });
    }

    @Test
    void aFullLimitShowsSinceWhenAndHowOldItsCallsAre() {
        run(open(), it -> {
            it.hold();
            it.shop.price(() -> "waits");

            Map<String, Object> limit = it.firstLimit();

            assertThat(limit)
                    .containsEntry("inUse", 1)
                    .containsEntry("available", 0)
                    .containsEntry("waiting", 1);
            assertThat((Double) limit.get("saturatedForSeconds")).isBetween(0.0, 30.0);
            assertThat((Double) limit.get("oldestRunningSeconds")).isBetween(0.0, 30.0);
            assertThat((Double) limit.get("oldestWaitingSeconds")).isBetween(0.0, 30.0);
        });
    }

    @Test
    void permitsInUseMayBeMoreThanThereAreAfterAChange() {
        run(open().withPropertyValues("virtual-thread.limits.price-db.permits=2"), it -> {
            it.hold();
            it.hold();
            it.limit().resize(1);

            assertThat(it.firstLimit())
                    .containsEntry("permits", 1)
                    .containsEntry("inUse", 2)
                    .containsEntry("available", 0);
        });
    }

    @Test
    void boundsOfKeysAreShownBeforeTheFirstKey() {
        run(open(), it -> {
            it.limit().setPermitsPerKey(5);

            assertThat(it.firstLimit())
                    .containsEntry("permitsPerKey", 5)
                    .containsEntry("keys", 0)
                    .doesNotContainKey("queueCapacityPerKey");
        });
    }

    @Test
    void aLimitShowsTheOneAroundAndWhoWaitsWithin() {
        run(open(), it -> {
            it.bean(TaskLimits.class).add(LimitSettings.of("report", 2).withWithin("price-db"));
            it.bean(TaskLimits.class).add(LimitSettings.of("tiny", 1).withWithin("report"));
            it.hold(body -> it.byHand.submit("report", body));
            it.byHand.submit("report", () -> "waits");
            it.shop.price(() -> "waits");

            Answer answer = it.read("");

            Map<String, Object> db = answer.get("$.limits[0]");
            assertThat(db)
                    .containsEntry("inUse", 1)
                    .containsEntry("available", 0)
                    .containsEntry("waiting", 1)
                    .containsEntry("waitingWithin", Map.of("report", 1, "tiny", 0))
                    .containsKey("oldestRunningSeconds")
                    .doesNotContainKey("within");
            assertThat(answer.<Map<String, Object>>get("$.limits[1]"))
                    .containsEntry("within", "price-db")
                    .containsEntry("inUse", 1)
                    .containsEntry("available", 1)
                    .containsEntry("waiting", 1)
                    .containsEntry("waitingWithin", Map.of("tiny", 0));
            assertThat(it.bean(TaskLimits.class).get("report").saturated()).isPositive();
            assertThat(answer.<Map<String, Object>>get("$.limits[2]"))
                    .containsEntry("within", "report")
                    .doesNotContainKey("waitingWithin");
            Answer ofDb = it.read("/price-db");
            assertThat(ofDb.<List<String>>get("$.calls[*].state")).containsExactly("running", "waiting");
            assertThat(ofDb.<Map<String, Object>>get("$.limit")).containsEntry("inUse", 1);
        });
    }

    @Test
    void aLimitShowsWhetherTheApplicationOccupiesIt() {
        run(open(), it -> {
            try (TaskLimit.Occupation occupied = it.limit().occupy()) {
                assertThat(occupied).isNotNull();
                assertThat(it.firstLimit())
                        .containsEntry("occupied", true)
                        .containsEntry("permits", 1)
                        .containsEntry("available", 0);
            }

            assertThat(it.firstLimit()).containsEntry("available", 1).doesNotContainKey("occupied");
        });
    }

    @Test
    void aBodyThatTakesNoNoticeOfItsCancellationIsAbandoned() {
        run(open(), it -> {
            CountDownLatch running = new CountDownLatch(1);
            CompletableFuture<String> stubborn = it.shop.price(() -> {
                running.countDown();
                awaitStubbornly(it.gate);
                return "late";
            });
            await(running);
            stubborn.cancel(true);

            assertThat(it.read("").<Integer>get("$.limits[0].abandoned")).isEqualTo(1);
            Answer answer = it.read("/price-db");
            assertThat(answer.<Boolean>get("$.calls[0].abandoned")).isTrue();

            Answer refused = it.end("/price-db?id=" + answer.get("$.calls[0].id"));
            assertThat(refused.status()).isEqualTo(400);
            assertThat(refused.message()).contains("of Shop.price has already ended; its body is still running");
        });
    }

    private static Object method(Answer answer, String name, String attribute) {
        return answer.<List<Object>>get(METHOD.formatted(name, attribute)).get(0);
    }

    private static void settle(CompletableFuture<?> call) throws Exception {
        call.handle((value, failure) -> value).get(2, TimeUnit.MINUTES);
    }

    /** Whoever is cancelled has ended once the only permit is there again and the next call has it. */
    private static void awaitEnd(EndpointApplication it) {
        Awaitility.await()
                .atMost(Duration.ofMinutes(2))
                .until(() -> it.read("").<Integer>get("$.limits[0].inUse") == 0
                        && (Integer) method(it.read(""), "Shop.price", "failed") == 2);
    }

    private static void awaitStubbornly(CountDownLatch latch) {
        while (true) {
            try {
                latch.await();
                return;
            } catch (InterruptedException ignored) {
                // this is what stubborn means
            }
        }
    }
}
