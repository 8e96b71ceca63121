package io.github.virtualthread.autoconfigure.properties;

import static io.github.virtualthread.autoconfigure.Contexts.change;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadClusterAutoConfiguration;
import io.github.virtualthread.cluster.Answer;
import io.github.virtualthread.cluster.ClusterEngine;
import io.github.virtualthread.cluster.MemoryEngine;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Limits that all replicas share, when the environment changes. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class SharedLimitRefreshTests {

    private static final String PARTNER = "virtual-thread.limits.partner.";

    private final MemoryEngine engine = new MemoryEngine(false);
    private final ApplicationContextRunner without = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class, VirtualThreadClusterAutoConfiguration.class))
            .withPropertyValues("virtual-thread.limits.db.permits=2", "virtual-thread.cluster.on-failure=wait");
    private final ApplicationContextRunner runner = without.withBean(ClusterEngine.class, () -> engine);

    @Test
    void aNewLimitIsShared() {
        runner.run(context -> {
            change(context, PARTNER + "cluster-permits=20");

            assertThat(context.getBean(VirtualThreads.class)
                            .submit("partner", () -> "done")
                            .join())
                    .isEqualTo("done");
            assertThat(engine.members("partner"))
                    .extracting(Answer.Other::permits)
                    .containsExactly(20);
        });
        assertThat(engine.members("partner")).as("after the goodbye").isEmpty();
    }

    @Test
    void aNewLimitWithoutAnEngineChangesNothing(CapturedOutput output) {
        without.run(context -> {
            change(context, PARTNER + "cluster-permits=20", "virtual-thread.limits.db.permits=3");

            assertThat(context.getBean(TaskLimits.class).names()).containsExactly("db");
            assertThat(context.getBean(TaskLimits.class).get("db").permits()).isEqualTo(2);
        });
        assertThat(output)
                .contains("the limits are unchanged: [Limit 'partner' has cluster-permits: 20, but nothing lends");
    }

    @Test
    void theNumberOfAllReplicasChanges() {
        runner.withPropertyValues(PARTNER + "cluster-permits=20", PARTNER + "permits=5")
                .run(context -> {
                    change(context, PARTNER + "cluster-permits=30", PARTNER + "permits=25");
                    assertThat(partner(context).clusterPermits()).isEqualTo(30);
                    assertThat(partner(context).permits()).isEqualTo(25);

                    change(context, PARTNER + "cluster-permits=10", PARTNER + "permits=10");
                    assertThat(partner(context).clusterPermits()).isEqualTo(10);
                    assertThat(partner(context).permits()).isEqualTo(10);
                });
    }

    @Test
    void thisJvmMayUseAllOfThemAfterwardsToo() {
        runner.withPropertyValues(PARTNER + "cluster-permits=20").run(context -> {
            change(context, PARTNER + "cluster-permits=30");
            assertThat(partner(context).permits()).isEqualTo(30);

            partner(context).resize(9);
            change(context, PARTNER + "cluster-permits=40");
            assertThat(partner(context).permits()).as("resized by hand").isEqualTo(9);
        });
    }

    @Test
    void whatCallsDoWithoutPermitsChanges() {
        runner.withPropertyValues(PARTNER + "cluster-permits=20").run(context -> {
            change(context, PARTNER + "on-failure=reject");

            assertThat(partner(context).settings().onFailure()).isEqualTo(OnFailure.REJECT);
        });
    }

    @Test
    void aLocalShareNeedsTheNumberOfReplicas(CapturedOutput output) {
        runner.withPropertyValues(PARTNER + "cluster-permits=20").run(context -> {
            change(context, PARTNER + "on-failure=local-share");

            assertThat(partner(context).settings().onFailure()).isNull();
        });
        assertThat(output)
                .contains(
                        "the limits are unchanged: [Limit 'partner' has cluster-permits: 20, but nothing says what calls do");
    }

    @Test
    void aLimitOfThisJvmAloneStaysSo(CapturedOutput output) {
        runner.run(context -> {
            change(context, "virtual-thread.limits.db.cluster-permits=20", "virtual-thread.limits.db.permits=5");
            change(context, "virtual-thread.limits.db.permits=6");

            TaskLimit db = context.getBean(TaskLimits.class).get("db");
            assertThat(db.settings().isShared()).isFalse();
            assertThat(db.permits()).isEqualTo(6);
        });
        assertThat(output)
                .containsOnlyOnce(
                        "Limit 'db': cluster-permits cannot be added while the application runs; set it in the properties,"
                                + " and restart the application. The limit is unchanged");
    }

    @Test
    void aSharedLimitStaysShared(CapturedOutput output) {
        runner.withPropertyValues(PARTNER + "cluster-permits=20").run(context -> {
            change(context, PARTNER + "cluster-permits=", PARTNER + "permits=7");
            assertThat(partner(context).clusterPermits()).isEqualTo(20);
            assertThat(partner(context).permits()).isEqualTo(20);

            change(context, PARTNER + "permits=8");
            assertThat(partner(context).clusterPermits()).isEqualTo(20);
            assertThat(partner(context).permits()).isEqualTo(8);
        });
        assertThat(output)
                .containsOnlyOnce("Limit 'partner': cluster-permits cannot be removed while the application runs;");
    }

    @Test
    void aLimitOfABeanStaysShared(CapturedOutput output) {
        runner.withBean(LimitSettings.class, () -> LimitSettings.of("partner", 20)
                        .withClusterPermits(20))
                .run(context -> {
                    change(context, PARTNER + "permits=4");

                    assertThat(partner(context).clusterPermits()).isEqualTo(20);
                    assertThat(partner(context).permits()).isEqualTo(20);
                });
        assertThat(output).containsOnlyOnce("cluster-permits cannot be removed");
    }

    @Test
    void nothingIsSharedIfTheStarterIsDisabled() {
        without.withPropertyValues("virtual-thread.enabled=false").run(context -> {
            change(context, PARTNER + "cluster-permits=20");

            assertThat(partner(context).clusterPermits()).isNull();
            assertThat(partner(context).permits()).isEqualTo(20);
        });
    }

    private static TaskLimit partner(AssertableApplicationContext context) {
        return context.getBean(TaskLimits.class).get("partner");
    }
}
