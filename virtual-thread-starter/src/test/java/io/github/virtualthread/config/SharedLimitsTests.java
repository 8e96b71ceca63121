package io.github.virtualthread.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.cluster.Answer;
import io.github.virtualthread.cluster.ClusterEngine;
import io.github.virtualthread.cluster.MemoryEngine;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextRefreshedEvent;

/** Limits that all replicas share, without Spring Boot. */
@Timeout(300)
class SharedLimitsTests {

    private final MemoryEngine engine = new MemoryEngine(false);

    @Test
    void anEngineAndALimitAreEnough() throws Exception {
        try (AnnotationConfigApplicationContext context = context(Plain.class)) {
            context.registerBean(ClusterEngine.class, () -> engine);
            context.refresh();

            assertThat(call(context)).isEqualTo("done");

            assertThat(engine.members("partner"))
                    .extracting(Answer.Other::permits)
                    .containsExactly(20);
        }
        assertThat(engine.members("partner")).isEmpty();
    }

    @Test
    void inModeAspectjToo() throws Exception {
        try (AnnotationConfigApplicationContext context = context(Woven.class)) {
            context.registerBean(ClusterEngine.class, () -> engine);
            context.refresh();

            assertThat(call(context)).isEqualTo("done");

            assertThat(engine.members("partner")).hasSize(1);
        }
    }

    @Test
    void aMissingEngineFailsTheStart() {
        try (AnnotationConfigApplicationContext context = context(Plain.class)) {
            assertThatThrownBy(context::refresh)
                    .isInstanceOf(VirtualThreadConfigurationException.class)
                    .hasMessage(
                            "Limit 'partner' has cluster-permits: 20, but there is no bean that lends the permits to the"
                                    + " replicas. Declare one: a RedisClusterEngine, a JdbcClusterStore, or a ClusterStore of your"
                                    + " own. Otherwise remove cluster-permits, and set permits to the part of each replica.");
        }
    }

    @Test
    void withoutADecisionTheStartNamesWhatCanBeDecidedWithoutSpringBoot() {
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            context.register(Plain.class);
            context.registerBean(ClusterEngine.class, () -> engine);
            context.registerBean(
                    LimitSettings.class, () -> LimitSettings.of("partner", 20).withClusterPermits(20));

            assertThatThrownBy(context::refresh)
                    .isInstanceOf(VirtualThreadConfigurationException.class)
                    .hasMessage(
                            "Limit 'partner' has cluster-permits: 20, but nothing says what calls do while no engine"
                                    + " lends permits. Call LimitSettings.withOnFailure(OnFailure.WAIT): then calls wait until"
                                    + " permits are lent again. Or pass it OnFailure.REJECT: then calls are rejected until that."
                                    + " A local share needs virtual-thread.cluster.replicas, which only Spring Boot reads.");
        }
    }

    @Test
    void permitsAreGivenBackWhenTheCallsHaveBeenDrained() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        CompletableFuture<Integer> call;
        CompletableFuture<Void> stopped;
        try (AnnotationConfigApplicationContext context = context(Plain.class)) {
            context.registerBean(ClusterEngine.class, () -> engine);
            context.refresh();
            call = context.getBean(VirtualThreads.class).submit("partner", () -> {
                begun.countDown();
                end.await();
                return engine.lent("partner");
            });
            begun.await();
            stopped = CompletableFuture.runAsync(context::stop);
            end.countDown();
            stopped.join();

            assertThat(call.join()).as("while the call runs").isPositive();
            assertThat(engine.members("partner")).isEmpty();

            context.start();
            assertThat(call(context)).as("after another start").isEqualTo("done");
        }
    }

    /** Such a context destroys its beans, and does not stop them. */
    @Test
    void aContextThatFailsAfterItsStartLeavesNothingBehind() {
        ApplicationListener<ContextRefreshedEvent> broken = event -> {
            assertThat(call(event.getApplicationContext().getBean(VirtualThreads.class)))
                    .isEqualTo("done");
            throw new IllegalStateException("broken listener");
        };
        try (AnnotationConfigApplicationContext context = context(Plain.class)) {
            context.registerBean(ClusterEngine.class, () -> engine);
            context.addApplicationListener(broken);

            assertThatThrownBy(context::refresh).hasMessage("broken listener");

            assertThat(engine.members("partner")).isEmpty();
        }
    }

    @Test
    void aLimitOfThisJvmAloneMakesNoShares() {
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            context.register(Plain.class);
            context.registerBean(LimitSettings.class, () -> LimitSettings.of("partner", 20));
            context.refresh();

            assertThat(context.getBean(TaskLimits.class).get("partner").cluster())
                    .isNull();
            assertThat(context.getBeanFactory().containsSingleton("virtualThreadClusterShares"))
                    .isFalse();
        }
    }

    private static AnnotationConfigApplicationContext context(Class<?> configuration) {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        context.register(configuration);
        context.registerBean(
                LimitSettings.class,
                () -> LimitSettings.of("partner", 20).withClusterPermits(20).withOnFailure(OnFailure.WAIT));
        return context;
    }

    private static String call(AnnotationConfigApplicationContext context) {
        return call(context.getBean(VirtualThreads.class));
    }

    private static String call(VirtualThreads threads) {
        return threads.submit("partner", () -> "done").join();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual
    static class Plain {}

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual(mode = AdviceMode.ASPECTJ)
    static class Woven {}
}
