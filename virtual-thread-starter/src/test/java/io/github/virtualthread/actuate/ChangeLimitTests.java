package io.github.virtualthread.actuate;

import static io.github.virtualthread.actuate.EndpointApplication.exposed;
import static io.github.virtualthread.actuate.EndpointApplication.open;
import static io.github.virtualthread.actuate.EndpointApplication.run;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.actuate.EndpointApplication.Answer;
import io.github.virtualthread.execution.BrokenLog;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** What POST does, and who may. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class ChangeLimitTests {

    private static final String CHANGED = "changed by ENDPOINT";

    @Test
    void aChangeIsOneAndAnswersWithTheLimitAsItIsNow(CapturedOutput output) {
        run(open(), it -> {
            Answer answer = it.write("/PRICEDB", "{\"permits\": 3, \"queueCapacity\": 7, \"maxWait\": \"2s\"}");

            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.<Map<String, Object>>get("$"))
                    .containsEntry("name", "price-db")
                    .containsEntry("permits", 3)
                    .containsEntry("available", 3)
                    .containsEntry("queueCapacity", 7)
                    .containsEntry("maxWaitSeconds", 2.0);
            assertThat(it.limit().permits()).isEqualTo(3);
            assertThat(it.limit().queueCapacity()).isEqualTo(7);
            assertThat(it.limit().maxWait()).isEqualTo(Duration.ofSeconds(2));
        });
        assertThat(output.getAll().lines().filter(line -> line.contains(CHANGED)))
                .singleElement()
                .asString()
                .contains("INFO")
                .contains("1 permit, unbounded queue, unbounded wait -> 3 permits, queue of 7, wait up to 2s");
    }

    @Test
    void whatIsNotGivenStays() {
        run(open().withPropertyValues("virtual-thread.limits.price-db.max-wait=5s"), it -> {
            it.write("/price-db", "{\"queueCapacity\": \"7\"}");

            assertThat(it.limit().permits()).isEqualTo(1);
            assertThat(it.limit().queueCapacity()).isEqualTo(7);
            assertThat(it.limit().maxWait()).isEqualTo(Duration.ofSeconds(5));
        });
    }

    @Test
    void boundsCanBeTakenAway() {
        run(
                open().withPropertyValues(
                                "virtual-thread.limits.price-db.max-wait=5s",
                                "virtual-thread.limits.price-db.queue-capacity=5"),
                it -> {
                    Answer answer = it.write("/price-db", "{\"queueCapacity\": \"unbounded\", \"maxWait\": \"none\"}");

                    assertThat(answer.<Map<String, Object>>get("$"))
                            .doesNotContainKeys("queueCapacity", "maxWaitSeconds");
                    assertThat(it.limit().queueCapacity()).isEqualTo(LimitSettings.UNBOUNDED);
                    assertThat(it.limit().maxWait()).isNull();
                });
    }

    @Test
    void boundsOfKeysAreChangedInTheSameWay(CapturedOutput output) {
        run(open(), it -> {
            Answer answer = it.write("/price-db", "{\"permits-per-key\": 3, \"queueCapacityPerKey\": \"0\"}");

            assertThat(answer.<Map<String, Object>>get("$"))
                    .containsEntry("permitsPerKey", 3)
                    .containsEntry("queueCapacityPerKey", 0)
                    .doesNotContainKey("queueCapacity");
            assertThat(it.limit().permitsPerKey()).isEqualTo(3);
            assertThat(it.limit().queueCapacityPerKey()).isZero();

            it.write("/price-db", "{\"permitsPerKey\": \"unbounded\", \"queueCapacityPerKey\": \"UNBOUNDED\"}");

            assertThat(it.limit().permitsPerKey()).isEqualTo(LimitSettings.UNBOUNDED);
            assertThat(it.limit().queueCapacityPerKey()).isEqualTo(LimitSettings.UNBOUNDED);
        });
        assertThat(output.getAll().lines().filter(line -> line.contains(CHANGED)))
                .hasSize(2)
                .first()
                .asString()
                .contains(
                        "1 permit, unbounded queue, unbounded wait -> 1 permit, 3 per key, unbounded queue, 0 per key,"
                                + " unbounded wait");
    }

    @Test
    void morePermitsStartWhatWaits() {
        run(open(), it -> {
            it.hold();
            CompletableFuture<String> waiting = it.shop.price(() -> "started");

            it.write("/price-db", "{\"permits\": 2}");

            assertThat(waiting).succeedsWithin(Duration.ofMinutes(2)).isEqualTo("started");
        });
    }

    @Test
    void aDryRunEndsAndBegins(CapturedOutput output) {
        run(open().withPropertyValues("virtual-thread.limits.price-db.dry-run=true"), it -> {
            it.hold();
            it.hold();
            it.hold();

            Answer ended = it.write("/price-db", "{\"dryRun\": \"false\"}");
            assertThat(ended.<Map<String, Object>>get("$"))
                    .doesNotContainKeys("dryRun", "mostInUse")
                    .containsEntry("inUse", 3)
                    .containsEntry("available", 0);
            CompletableFuture<String> waiting = it.shop.price(() -> "waited");
            assertThat(waiting).isNotDone();
            assertThat(it.limit().waiting()).isOne();

            Answer begun = it.write("/price-db", "{\"dryRun\": true, \"permits\": 2}");
            assertThat(waiting).succeedsWithin(Duration.ofMinutes(2)).isEqualTo("waited");
            assertThat(begun.<Integer>get("$.dryRun.same.permits")).isEqualTo(2);
            assertThat(begun.<Integer>get("$.dryRun.double.permits")).isEqualTo(4);
        });
        assertThat(output.getAll().lines().filter(line -> line.contains(CHANGED)))
                .hasSize(2)
                .first()
                .asString()
                .contains(
                        "1 permit, unbounded queue, unbounded wait, dry run -> 1 permit, unbounded queue, unbounded wait");
    }

    @Test
    void badInputIs400WithTheReasonAndChangesNothing(CapturedOutput output) {
        run(open(), it -> {
            assertRefused(
                    it,
                    "{}",
                    "Nothing to change: send permits, queueCapacity, maxWait, permitsPerKey, queueCapacityPerKey,"
                            + " clusterPermits or dryRun, as in");
            assertRefused(it, "{\"dryRun\": \"off\"}", "dryRun must be true or false, was 'off'");
            assertRefused(
                    it,
                    "{\"dryRun\": \"true\", \"permitsPerKey\": 1}",
                    "Limit 'price-db': dry-run must be false with permits-per-key, because a dry run watches one queue");
            String permits = "permits must be a whole number from 1 to 2147483647, was '%s'";
            for (String wrong : List.of("0", "-1", "2147483648", "20.5")) {
                assertRefused(it, "{\"permits\": %s}".formatted(wrong), permits.formatted(wrong));
            }
            assertRefused(it, "{\"permits\": \"many\"}", permits.formatted("many"));
            assertRefused(it, "{\"permits\": \"unbounded\"}", permits.formatted("unbounded"));
            assertRefused(it, "{\"permits\": 5, \"queueCapacity\": -1}", "queueCapacity must be a whole number from 0");
            assertRefused(it, "{\"queueCapacity\": \"none\"}", "\"unbounded\" lets any number of calls wait");
            for (String wrong : List.of("0", "-1", "none", "many")) {
                assertRefused(
                        it,
                        "{\"permits\": 5, \"permitsPerKey\": \"%s\"}".formatted(wrong),
                        "permitsPerKey must be a whole number from 1 to 2147483647, was '%s'; \"unbounded\" lets one key"
                                        .formatted(wrong)
                                + " have all permits");
            }
            assertRefused(
                    it,
                    "{\"queueCapacityPerKey\": -1}",
                    "queueCapacityPerKey must be a whole number from 0 to 2147483647, was '-1'; \"unbounded\" lets any"
                            + " number of calls of one key wait");
            for (String wrong : List.of("5", "0s", "-1s", "soon", "unbounded", "")) {
                assertRefused(
                        it,
                        "{\"maxWait\": \"%s\"}".formatted(wrong),
                        "maxWait must be a duration longer than zero with a unit, such as 2s or 500ms, was '%s'"
                                .formatted(wrong));
            }
            assertThat(it.limit().toString()).isEqualTo("price-db (1 permit, unbounded queue, unbounded wait)");
        });
        assertThat(output).doesNotContain(CHANGED);
    }

    @Test
    void aBrokenLogCostsNoAnswer() {
        run(open(), it -> {
            try (BrokenLog broken = new BrokenLog(TaskLimits.class)) {
                Answer answer = it.write("/price-db", "{\"permits\": 3}");

                assertThat(broken.strikes()).isPositive();
                assertThat(answer.status()).isEqualTo(200);
                assertThat(answer.<Integer>get("$.permits")).isEqualTo(3);
            }
        });
    }

    @Test
    void bothSpellingsOfAKeyAreKnown() {
        run(open(), it -> {
            Answer answer = it.write("/price-db", "{\"permits\": 6, \"queue-capacity\": 10, \"max-wait\": \"1s\"}");

            assertThat(answer.status()).isEqualTo(200);
            assertThat(it.limit().toString()).isEqualTo("price-db (6 permits, queue of 10, wait up to 1s)");
        });
    }

    @Test
    void anUnknownKeyIsRefusedAndNothingIsChanged(CapturedOutput output) {
        run(open().withPropertyValues("virtual-thread.limits.report.permits=1"), it -> {
            String known =
                    "; known parameters are [permits, queueCapacity, maxWait, permitsPerKey, queueCapacityPerKey,"
                            + " clusterPermits, dryRun]";
            assertRefused(it, "{\"permits\": 5, \"permit\": 5}", "Unknown parameters [permit]" + known);
            assertRefused(
                    it, "{\"permits\": 5, \"nested\": \"FAIL\", \"\": 1}", "Unknown parameters [nested, ]" + known);
            assertRefused(it, "{\"permits\": 5, \"limit\": \"report\"}", "Unknown parameters [limit]" + known);
            assertRefused(it, "{\"maxWait\": \"1s\", \"max-wait\": \"2s\"}", "maxWait is given more than once");
            assertThat(it.write("/price-db?permit=3", "{\"permits\": 5}").status())
                    .isEqualTo(400);
            assertThat(it.limit().permits()).isEqualTo(1);
        });
        assertThat(output).doesNotContain(CHANGED);
    }

    /** Otherwise a rule for the path of one limit would not protect the others. */
    @Test
    void noParameterReplacesTheLimitInThePath() {
        run(open().withPropertyValues("virtual-thread.limits.report.permits=1"), it -> {
            for (Answer answer : List.of(
                    it.read("/price-db?limitInPath=report"),
                    it.write("/price-db", "{\"permits\": 5, \"limitInPath\": \"report\"}"),
                    it.write("/price-db?limitInPath=report", "{\"permits\": 5}"),
                    it.write("/price-db?limitInPath=price-db&limitInPath=report", "{\"permits\": 5}"),
                    it.end("/price-db?limitInPath=report&all=true"))) {
                answer.assertRefused(400, "limitInPath is not a parameter: the path names the limit");
            }
            assertThat(it.bean(TaskLimits.class).all())
                    .extracting(TaskLimit::permits)
                    .containsOnly(1);
        });
    }

    private static void assertRefused(EndpointApplication it, String json, String message) throws Exception {
        Answer answer = it.write("/price-db", json);
        assertThat(answer.status()).as(json).isEqualTo(400);
        assertThat(answer.message()).contains(message);
    }

    @Test
    void anUnknownLimitIs404() {
        run(open(), it -> {
            for (Answer answer : List.of(
                    it.read("/bd"),
                    it.write("/bd", "{\"permits\": 5}"),
                    it.write("/none", "{\"permits\": 5}"),
                    it.end("/bd?all=true"),
                    it.end("/bd?id=1"))) {
                assertThat(answer.status()).isEqualTo(404);
                assertThat(answer.message()).endsWith("is configured; the configured limits are [price-db]");
            }
        });
    }

    @Test
    void nothingCanBeChangedUnlessAccessIsUnrestricted() {
        run(exposed(), it -> {
            it.hold();
            CompletableFuture<String> waiting = it.shop.price(() -> "waits");

            assertThat(it.read("").status()).isEqualTo(200);
            assertThat(it.read("/price-db").status()).isEqualTo(200);
            assertThat(it.write("/price-db", "{\"permits\": 5}").status()).isEqualTo(405);
            assertThat(it.end("/price-db?all=true").status()).isEqualTo(405);
            assertThat(it.limit().permits()).isEqualTo(1);
            assertThat(waiting).isNotDone();
        });
    }
}
