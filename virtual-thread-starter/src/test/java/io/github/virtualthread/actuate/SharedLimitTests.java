package io.github.virtualthread.actuate;

import static io.github.virtualthread.actuate.EndpointApplication.open;
import static io.github.virtualthread.actuate.EndpointApplication.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import com.jayway.jsonpath.JsonPath;
import io.github.virtualthread.actuate.EndpointApplication.Answer;
import io.github.virtualthread.cluster.ClusterShares;
import io.github.virtualthread.cluster.MemoryEngine;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.Member;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.limit.TestLease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** What the endpoint shows of limits that all replicas share, and changes. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
@SuppressWarnings("unchecked")
class SharedLimitTests {

    private static final List<String> FIELDS = List.of(
            "clusterPermits",
            "clusterPermitsInForce",
            "heldBackBy",
            "share",
            "kept",
            "keptFor",
            "members",
            "leaseSeconds",
            "lending");

    /** A limit {@code partner} of 20 permits in all replicas, and {@code price-db}, which is one of this JVM alone. */
    private static WebApplicationContextRunner shared() {
        return shared(away());
    }

    private static WebApplicationContextRunner shared(MemoryEngine engine) {
        return open().withPropertyValues("spring.application.name=shop")
                .withBean(MemoryEngine.class, () -> engine)
                .withBean(LimitSettings.class, () -> LimitSettings.of("partner", 20)
                        .withClusterPermits(20)
                        .withOnFailure(OnFailure.WAIT));
    }

    /** What lends permits is the test. */
    private static MemoryEngine away() {
        MemoryEngine engine = new MemoryEngine(false);
        engine.fail();
        return engine;
    }

    private static TaskLimit partner(EndpointApplication application) {
        return application.bean(TaskLimits.class).get("partner");
    }

    private static Member member(String name, int holds, int wants, int permits) {
        return new Member(name, holds, wants, permits, Duration.ZERO, Duration.ZERO);
    }

    @Test
    void itsRowShowsWhatIsLentAndByWhom() {
        run(shared(), it -> {
            new TestLease(partner(it)).lend(7, 20, member("shop-1", 7, 3, 20), member("shop-2", 13, 40, 20));

            Map<String, Object> row = it.firstLimit();

            assertThat(row)
                    .containsEntry("name", "partner")
                    .containsEntry("permits", 20)
                    .containsEntry("clusterPermits", 20)
                    .containsEntry("share", 7)
                    .containsEntry("kept", 6)
                    .containsEntry("keptFor", 1)
                    .containsEntry("members", 2)
                    .containsEntry("leaseSeconds", 8.5)
                    .containsEntry("lending", "LENT")
                    .containsEntry("available", 7)
                    .containsEntry("inUse", 0)
                    .doesNotContainKeys("clusterPermitsInForce", "heldBackBy");
            assertThat(new ArrayList<>(row.keySet()))
                    .startsWith(
                            "name",
                            "permits",
                            "clusterPermits",
                            "nested",
                            "share",
                            "kept",
                            "keptFor",
                            "members",
                            "leaseSeconds",
                            "lending");
            assertThat((Map<String, Object>) row.get("rejected")).containsKey("NO_LEASE");
        });
    }

    @Test
    void inUseAreThePermitsThatCallsHoldAndNotThoseThatAreNotLent() {
        run(shared(), it -> {
            new TestLease(partner(it)).lend(7, 20);
            CompletableFuture<?> held = it.byHand.submit("partner", () -> it.gate.await(2, TimeUnit.MINUTES));

            assertThat(it.firstLimit()).containsEntry("available", 6).containsEntry("inUse", 1);
            it.gate.countDown();
            assertThat(held).succeedsWithin(Duration.ofMinutes(2));
        });
    }

    @Test
    void theAnswerForOneLimitListsItsMembers() {
        run(shared(), it -> {
            String self = it.bean(ClusterShares.class).member();
            new TestLease(partner(it))
                    .lend(
                            7,
                            20,
                            new Member(self, 7, 3, 20, Duration.ZERO, Duration.ofMillis(80)),
                            new Member("shop-2", 13, 40, 25, Duration.ofMillis(2_400), Duration.ofMillis(120)));

            Answer answer = it.read("/partner");

            assertThat(answer.<Integer>get("$.limit.members")).isEqualTo(2);
            assertThat(answer.<Object>get("$.members"))
                    .isEqualTo(JsonPath.parse("""
                            [{"name": "%s", "self": true, "holds": 7, "wants": 3, "permits": 20,
                              "secondsSinceClaim": 0.08},
                             {"name": "shop-2", "holds": 13, "wants": 40, "permits": 25,
                              "secondsWanting": 2.4, "secondsSinceClaim": 0.12}]
                            """.formatted(self)).json());
            assertThat(it.read("").<Integer>get("$.limits[0].members")).isEqualTo(2);
            assertThat(it.read("/none").<Map<String, Object>>get("$")).containsOnlyKeys("calls", "more");
        });
    }

    @Test
    void aReplicaThatIsAloneOrHasNothingSaysSo() {
        run(shared(), it -> {
            assertThat(it.read("/partner").<Map<String, Object>>get("$.limit"))
                    .containsEntry("lending", "LOST")
                    .containsEntry("share", 0)
                    .containsEntry("available", 0)
                    .containsEntry("inUse", 0)
                    .containsEntry("leaseSeconds", 0.0);

            TestLease lease = new TestLease(partner(it));
            lease.alone(10, Duration.ofSeconds(12));

            assertThat(it.read("/partner").<Map<String, Object>>get("$.limit"))
                    .containsEntry("lending", "ALONE")
                    .containsEntry("share", 10)
                    .containsEntry("available", 10)
                    .containsEntry("leaseSeconds", 0.0);
        });
    }

    @Test
    void aLimitOfThisJvmAloneHasNothingOfIt() {
        run(shared(), it -> {
            Map<String, Object> row = it.read("").get("$.limits[1]");

            assertThat(row).containsEntry("name", "price-db").doesNotContainKeys(FIELDS.toArray(String[]::new));
            assertThat((Map<String, Object>) row.get("rejected")).doesNotContainKey("NO_LEASE");
            assertThat(it.read("/price-db").<Map<String, Object>>get("$")).containsOnlyKeys("limit", "calls", "more");
        });
    }

    @Test
    void aSmallerNumberIsInForceAtOnce(CapturedOutput output) {
        run(shared(), it -> {
            new TestLease(partner(it)).lend(7, 10, member("shop-1", 7, 0, 10), member("shop-2", 3, 0, 20));

            Answer answer = it.write("/partner", "{\"clusterPermits\": 10}");

            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.<Map<String, Object>>get("$"))
                    .contains(entry("clusterPermits", 10), entry("permits", 10))
                    .doesNotContainKeys("clusterPermitsInForce", "heldBackBy");
            assertThat(partner(it).clusterPermits()).isEqualTo(10);
        });
        assertThat(output.getAll().lines().filter(line -> line.contains("Limit 'partner' changed by ENDPOINT")))
                .singleElement()
                .asString()
                .contains("20 permits in all replicas, unbounded queue, unbounded wait"
                        + " -> 10 permits in all replicas, unbounded queue, unbounded wait");
    }

    @Test
    void aGreaterNumberIsInForceWhenTheLastReplicaHasIt() {
        run(shared(), it -> {
            TestLease lease = new TestLease(partner(it));
            lease.lend(7, 20, member("shop-1", 7, 0, 30), member("shop-2", 7, 0, 20), member("shop-3", 6, 0, 20));

            Answer answer = it.write("/partner", "{\"cluster-permits\": \"30\"}");

            assertThat(answer.<Map<String, Object>>get("$"))
                    .containsEntry("clusterPermits", 30)
                    .containsEntry("permits", 30)
                    .containsEntry("clusterPermitsInForce", 20)
                    .containsEntry("heldBackBy", List.of("shop-2", "shop-3"));

            lease.lend(7, 20, member("shop-1", 7, 0, 30)); // the engine has not been told yet
            assertThat(it.read("/partner").<Map<String, Object>>get("$.limit"))
                    .containsEntry("clusterPermitsInForce", 20)
                    .doesNotContainKey("heldBackBy");
        });
    }

    @Test
    void permitsOfThisReplicaMayChangeWithIt() {
        run(shared(), it -> {
            assertThat(it.write("/partner", "{\"permits\": 25, \"clusterPermits\": 30}")
                            .status())
                    .isEqualTo(200);
            assertThat(partner(it).permits()).isEqualTo(25);
            assertThat(partner(it).clusterPermits()).isEqualTo(30);

            assertThat(it.write("/partner", "{\"permits\": 5, \"clusterPermits\": 10}")
                            .status())
                    .isEqualTo(200);
            assertThat(partner(it).permits()).isEqualTo(5);
            assertThat(it.write("/partner", "{\"clusterPermits\": 40}").status())
                    .isEqualTo(200);
            assertThat(partner(it).permits()).isEqualTo(5);
        });
    }

    @Test
    void whatCannotBeIs400WithTheRemedyAndChangesNothing() {
        run(shared(), it -> {
            it.write("/partner", "{\"permits\": 21}")
                    .assertRefused(
                            400,
                            "Limit 'partner': permits must be at most cluster-permits (20), because one replica can never use more,"
                                    + " was 21");
            it.write("/partner", "{\"permits\": 31, \"clusterPermits\": 30}")
                    .assertRefused(
                            400,
                            "Limit 'partner': permits must be at most cluster-permits (30), because one replica can never use more,"
                                    + " was 31");
            for (String wrong : List.of("0", "-1", "2.5", "many", "unbounded")) {
                it.write("/partner", "{\"clusterPermits\": \"%s\"}".formatted(wrong))
                        .assertRefused(
                                400,
                                "clusterPermits must be a whole number from 1 to 2147483647, was '%s'"
                                        .formatted(wrong));
            }
            it.write("/price-db", "{\"permits\": 50, \"clusterPermits\": 30}")
                    .assertRefused(
                            400,
                            "Limit 'price-db' is one of this JVM alone, so clusterPermits cannot be changed: to share it, set"
                                    + " virtual-thread.limits.price-db.cluster-permits, and restart all replicas");
            assertThat(it.limit().permits()).isEqualTo(1);
            assertThat(partner(it).clusterPermits()).isEqualTo(20);
        });
    }
}
