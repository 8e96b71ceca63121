package io.github.virtualthread.autoconfigure.properties;

import static io.github.virtualthread.autoconfigure.Contexts.change;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.limit.KeyWeight;
import io.github.virtualthread.limit.LimitChange.Source;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimitCustomizer;
import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class LimitRefreshTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class))
            .withPropertyValues("virtual-thread.limits.db.permits=2", "virtual-thread.limits.db.queue-capacity=7");

    @Test
    void aChangedPropertyChangesTheLimit(CapturedOutput output) {
        runner.run(context -> {
            change(context, "virtual-thread.limits.db.permits=5", "virtual-thread.limits.db.max-wait=2s");

            TaskLimit db = limits(context).get("db");
            assertThat(db.permits()).isEqualTo(5);
            assertThat(db.maxWait()).isEqualTo(Duration.ofSeconds(2));
            assertThat(db.queueCapacity()).isEqualTo(7);
        });
        assertThat(output)
                .containsOnlyOnce("Limit 'db' changed by ENVIRONMENT: 2 permits, queue of 7, unbounded wait"
                        + " -> 5 permits, queue of 7, wait up to 2s");
    }

    @Test
    void hopelessCallsAreRejectedFromThenOn(CapturedOutput output) {
        runner.run(context -> {
            change(context, "virtual-thread.limits.db.reject-hopeless=true");
            assertThat(limits(context).get("db").rejectsHopeless()).isTrue();

            change(context, "virtual-thread.limits.db.reject-hopeless=false");
            assertThat(limits(context).get("db").rejectsHopeless()).isFalse();
        });
        assertThat(output).contains("2 permits, queue of 7, unbounded wait, hopeless calls rejected");
    }

    @Test
    void aDryRunBeginsAndEnds(CapturedOutput output) {
        runner.withPropertyValues("virtual-thread.limits.db.permits-per-key=1").run(context -> {
            change(context, "virtual-thread.limits.db.dry-run=true");
            assertThat(limits(context).get("db").isDryRun()).isFalse();

            change(context, "virtual-thread.limits.db.permits-per-key=");
            assertThat(limits(context).get("db").isDryRun()).isTrue();
            change(context, "virtual-thread.limits.db.queue-capacity=8");
            assertThat(limits(context).get("db").isDryRun()).isTrue();
            limits(context).change(limits(context).get("db"), now -> now.withDryRun(false), Source.ENDPOINT);
            change(context, "virtual-thread.limits.db.queue-capacity=9");
            assertThat(limits(context).get("db").isDryRun()).isFalse();

            change(context, "virtual-thread.limits.db.dry-run=false");
            change(context, "virtual-thread.limits.db.dry-run=true");
            assertThat(limits(context).get("db").isDryRun()).isTrue();
            change(context, "virtual-thread.limits.db.dry-run=false", "virtual-thread.limits.db.permits-per-key=2");
            assertThat(limits(context).get("db").isDryRun()).isFalse();
            assertThat(limits(context).get("db").permitsPerKey()).isEqualTo(2);
        });
        assertThat(output)
                .contains("Limit 'db': dry-run must be false with permits-per-key")
                .contains("-> 2 permits, queue of 7, unbounded wait, dry run");
    }

    @Test
    void aLimitAroundOthersHasNoDryRun(CapturedOutput output) {
        runner.withPropertyValues("virtual-thread.limits.report.permits=1", "virtual-thread.limits.report.within=db")
                .run(context -> {
                    change(context, "virtual-thread.limits.db.dry-run=true", "virtual-thread.limits.db.permits=9");

                    assertThat(limits(context).get("db").isDryRun()).isFalse();
                    assertThat(limits(context).get("db").permits()).isEqualTo(2);
                });
        assertThat(output)
                .contains("Limit 'report' lies within 'db', whose dry-run must be false then, because a dry run watches"
                        + " one queue");
    }

    @Test
    void theWeightsOfKeysChange() {
        runner.withPropertyValues("virtual-thread.limits.db.key-weights.gold=3").run(context -> {
            change(context, "virtual-thread.limits.db.key-weights.gold=5");

            assertThat(limits(context).get("db").weight("gold")).isEqualTo(5);
            assertThat(limits(context).get("db").weight("acme")).isEqualTo(1);
        });
    }

    @Test
    void whatALimitMustBeginWithIsNotAdded(CapturedOutput output) {
        runner.run(context -> {
            change(
                    context,
                    "virtual-thread.limits.db.key-weights.gold=3",
                    "virtual-thread.limits.mail.permits=4",
                    "virtual-thread.limits.mail.adapt.least=2",
                    "virtual-thread.limits.mail.adapt.most=8",
                    "virtual-thread.limits.mail.adapt.run-time=150ms");
            assertThat(limits(context).get("db").weight("gold")).isNull();
            assertThat(limits(context).get("mail")).hasToString("mail (4 permits, unbounded queue, unbounded wait)");

            change(context, "virtual-thread.limits.db.permits=6");
            assertThat(limits(context).get("db").permits()).isEqualTo(6);
        });
        assertThat(output)
                .containsOnlyOnce(
                        "Limit 'db': key-weights cannot be added while the application runs; set it in the properties,"
                                + " and restart the application. The limit is unchanged")
                .containsOnlyOnce(
                        "Limit 'mail': adapt cannot be added while the application runs; set it in the properties,"
                                + " and restart the application. The limit is unchanged");
    }

    @Test
    void theBoundsOfPermitsThatAreFoundChange() {
        runner.withPropertyValues(
                        "virtual-thread.limits.db.adapt.least=1",
                        "virtual-thread.limits.db.adapt.most=40",
                        "virtual-thread.limits.db.adapt.run-time=150ms")
                .run(context -> {
                    limits(context).adjust(limits(context).get("db"), now -> 30); // as it was found

                    change(context, "virtual-thread.limits.db.adapt.most=20");
                    assertThat(limits(context).get("db").permits()).isEqualTo(20);
                    change(context, "virtual-thread.limits.db.queue-capacity=8");
                    assertThat(limits(context).get("db").permits()).isEqualTo(20);
                    change(context, "virtual-thread.limits.db.adapt.most=100", "virtual-thread.limits.db.permits=90");
                    assertThat(limits(context).get("db"))
                            .hasToString(
                                    "db (90 permits of 1 to 100, queue of 8, unbounded wait, hopeless calls rejected)");
                });
    }

    @Test
    void aLimitThatIsAddedMayHaveWeights() {
        runner.withBean(KeyWeight.class, () -> (limit, key) -> key.equals("silver") ? 2 : 1)
                .run(context -> {
                    change(
                            context,
                            "virtual-thread.limits.mail.permits=4",
                            "virtual-thread.limits.mail.key-weights.gold=3",
                            "virtual-thread.limits.db.key-weights.gold=4");

                    assertThat(limits(context).get("mail").weight("gold")).isEqualTo(3);
                    assertThat(limits(context).get("mail").weight("silver")).isEqualTo(2);
                    assertThat(limits(context).get("db").weight("gold"))
                            .as("the bean weighs its keys")
                            .isEqualTo(4);
                });
    }

    @Test
    void aLimitResizedByHandSurvivesAnUnrelatedChange() {
        runner.run(context -> {
            limits(context).get("db").resize(9);

            change(context, "virtual-thread.limits.db.queue-capacity=8");

            assertThat(limits(context).get("db").permits()).isEqualTo(9);
            assertThat(limits(context).get("db").queueCapacity()).isEqualTo(8);
        });
    }

    @Test
    void whatIsComparedIsWhatWasBoundLast() {
        runner.run(context -> {
            change(context, "virtual-thread.limits.db.permits=5");
            limits(context).get("db").resize(9);

            change(context, "virtual-thread.limits.db.permits=2");

            assertThat(limits(context).get("db").permits()).isEqualTo(2);
        });
    }

    @Test
    void aNewLimitIsAddedAndShownToCustomizers(CapturedOutput output) {
        runner.withBean(TaskLimitCustomizer.class, () -> limit -> limit.setQueueCapacity(3))
                .run(context -> {
                    assertThat(limits(context).get("db").queueCapacity()).isEqualTo(3);

                    change(context, "virtual-thread.limits.mail.permits=4");

                    assertThat(limits(context).get("mail").permits()).isEqualTo(4);
                    assertThat(limits(context).get("mail").queueCapacity()).isEqualTo(3);
                });
        assertThat(output).contains("Limit added by ENVIRONMENT: mail (4 permits, unbounded queue, unbounded wait)");
    }

    @Test
    void aCustomizerThatFailsOnANewLimitStopsNeitherTheOthersNorTheChange(CapturedOutput output) {
        TaskLimitCustomizer broken = limit -> {
            if (!limit.name().equals("db")) {
                throw new IllegalStateException("broken customizer");
            }
        };
        runner.withBean("a", TaskLimitCustomizer.class, () -> broken)
                .withBean("b", TaskLimitCustomizer.class, () -> limit -> limit.setQueueCapacity(3))
                .run(context -> {
                    change(
                            context,
                            "virtual-thread.limits.mail.permits=4",
                            "virtual-thread.limits.report.permits=5",
                            "virtual-thread.limits.db.permits=6");

                    assertThat(limits(context).get("mail").queueCapacity()).isEqualTo(3);
                    assertThat(limits(context).get("report").queueCapacity()).isEqualTo(3);
                    assertThat(limits(context).get("db").permits()).isEqualTo(6);
                });
        assertThat(output).contains("failed on limit 'mail'").contains("broken customizer");
    }

    @Test
    void theNumbersOfEachKeyChangeToo(CapturedOutput output) {
        runner.withPropertyValues("virtual-thread.limits.db.permits-per-key=2").run(context -> {
            change(
                    context,
                    "virtual-thread.limits.db.permits=9",
                    "virtual-thread.limits.db.permits-per-key=3",
                    "virtual-thread.limits.db.queue-capacity-per-key=4");

            assertThat(limits(context).get("db").permitsPerKey()).isEqualTo(3);
            assertThat(limits(context).get("db").queueCapacityPerKey()).isEqualTo(4);
        });
        assertThat(output)
                .containsOnlyOnce("Limit 'db' changed by ENVIRONMENT: 2 permits, 2 per key, queue of 7, unbounded wait"
                        + " -> 9 permits, 3 per key, queue of 7, 4 per key, unbounded wait");
    }

    @Test
    void newLimitsLieWithinOldOnesAndWithinEachOther(CapturedOutput output) {
        runner.run(context -> {
            change(
                    context,
                    "virtual-thread.limits.a.permits=1",
                    "virtual-thread.limits.a.within=c",
                    "virtual-thread.limits.b.permits=1",
                    "virtual-thread.limits.b.within=D-B",
                    "virtual-thread.limits.c.permits=1",
                    "virtual-thread.limits.c.within=b");

            assertThat(limits(context).get("a").within())
                    .isSameAs(limits(context).get("c"));
            assertThat(limits(context).get("b").within())
                    .isSameAs(limits(context).get("db"));
            assertThat(limits(context).get("c").within())
                    .isSameAs(limits(context).get("b"));
        });
        assertThat(output).contains("Limit added by ENVIRONMENT: c (1 permit, within b, unbounded queue");
    }

    @Test
    void aNewLimitWithinAnUnknownOneChangesNothing(CapturedOutput output) {
        runner.run(context -> {
            change(
                    context,
                    "virtual-thread.limits.db.permits=5",
                    "virtual-thread.limits.report.permits=1",
                    "virtual-thread.limits.report.within=bd");

            assertThat(limits(context).get("db").permits()).isEqualTo(2);
            assertThat(limits(context).names()).containsExactly("db");
        });
        assertThat(output)
                .contains("the limits are unchanged: [Limit 'report' lies within 'bd', but the other limits are [db]."
                        + " Did you mean 'db'?");
    }

    @Test
    void aLimitDoesNotMoveIntoAnotherButTheOtherChangesApply(CapturedOutput output) {
        runner.withPropertyValues("virtual-thread.limits.mail.permits=1").run(context -> {
            change(context, "virtual-thread.limits.mail.within=db", "virtual-thread.limits.mail.permits=3");
            change(context, "virtual-thread.limits.mail.permits=2");

            assertThat(limits(context).get("mail").within()).isNull();
            assertThat(limits(context).get("mail").permits()).isEqualTo(2);
            assertThat(limits(context).get("mail")).hasToString("mail (2 permits, unbounded queue, unbounded wait)");
        });
        assertThat(output)
                .contains("Limit 'mail' changed by ENVIRONMENT: 1 permit, unbounded queue")
                .containsOnlyOnce(
                        "Limit 'mail' stays within no other limit: virtual-thread.limits.mail.within is now"
                                + " 'db', but a limit cannot move while the application runs. Restart the application to move it.");
    }

    @Test
    void aLimitDoesNotMoveOutOfAnother(CapturedOutput output) {
        runner.withPropertyValues("virtual-thread.limits.mail.permits=1", "virtual-thread.limits.mail.within=db")
                .run(context -> {
                    change(context, "virtual-thread.limits.mail.within=");
                    change(context, "virtual-thread.limits.mail.within=db");

                    assertThat(limits(context).get("mail"))
                            .hasToString("mail (1 permit, within db, unbounded queue, unbounded wait)");
                });
        assertThat(output)
                .containsOnlyOnce("stays within")
                .contains("Limit 'mail' stays within 'db': virtual-thread.limits.mail.within is now not set,");
    }

    @Test
    void aLimitOfABeanStaysWithinItsLimit(CapturedOutput output) {
        runner.withBean("mail", LimitSettings.class, () -> LimitSettings.of("mail", 1)
                        .withWithin("db"))
                .run(context -> {
                    change(context, "virtual-thread.limits.mail.permits=2");

                    assertThat(limits(context).get("mail"))
                            .hasToString("mail (2 permits, within db, unbounded queue, unbounded wait)");
                });
        assertThat(output).containsOnlyOnce("Limit 'mail' stays within 'db'");
    }

    @Test
    void aLimitThatABeanDeclaresIsChangedByANewProperty() {
        runner.withBean("mail", LimitSettings.class, () -> LimitSettings.of("mail", 1))
                .run(context -> {
                    change(context, "virtual-thread.limits.mail.permits=4");

                    assertThat(limits(context).get("mail").permits()).isEqualTo(4);
                });
    }

    @Test
    void badValuesChangeNothingAndReachNobody(CapturedOutput output) {
        runner.run(context -> {
            change(context, "virtual-thread.limits.db.permits=0", "virtual-thread.limits.mail.permits=1");

            assertThat(limits(context).get("db").permits()).isEqualTo(2);
            assertThat(limits(context).names()).containsExactly("db");
        });
        assertThat(output).contains("Limit 'db': permits must be at least 1, was 0");
    }

    @Test
    void unknownKeysChangeNothingAndReachNobody(CapturedOutput output) {
        runner.run(context -> {
            change(context, "virtual-thread.limits.db.permits=5", "virtual-thread.limits.db.permit=6");

            assertThat(limits(context).get("db").permits()).isEqualTo(2);
        });
        assertThat(output).contains("the limits are unchanged");
    }

    private static TaskLimits limits(AssertableApplicationContext context) {
        return context.getBean(TaskLimits.class);
    }
}
