package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.execution.ExecutorView;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.MDC;
import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.SyncTaskExecutor;
import org.springframework.core.task.TaskExecutor;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.AsyncAnnotationBeanPostProcessor;
import org.springframework.scheduling.annotation.AsyncConfigurer;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/** Executors that become executors of limits. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class AsyncExecutorsTests {

    private static final AtomicInteger created = new AtomicInteger();

    private final AtomicInteger confirmed = new AtomicInteger();
    private final CountDownLatch confirming = new CountDownLatch(1);
    private final CountDownLatch interrupted = new CountDownLatch(1);

    private final ApplicationContextRunner plain = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class,
                    VirtualThreadAsyncAutoConfiguration.class,
                    TaskExecutionAutoConfiguration.class,
                    TaskSchedulingAutoConfiguration.class))
            .withPropertyValues("virtual-thread.limits.common.permits=2", "virtual-thread.limits.mail.permits=1");

    private final ApplicationContextRunner runner =
            plain.withUserConfiguration(Asynchronous.class).withBean(Mailer.class, this);

    private final ApplicationContextRunner common = runner.withPropertyValues("virtual-thread.async.limit=common");

    private final ApplicationContextRunner pool = runner.withUserConfiguration(MailPool.class)
            .withPropertyValues("virtual-thread.async.executors.mailExecutor=mail");

    @Test
    void asyncMethodsRunUnderTheCommonLimitInOrderAndTheirCallerGoesOn() {
        common.run(context -> {
            Mailer mailer = context.getBean(Mailer.class);
            CountDownLatch gate = new CountDownLatch(1);
            List<Integer> order = new CopyOnWriteArrayList<>();
            MDC.put("requestId", "r-1");
            CompletableFuture<String> first = mailer.send(gate);
            CompletableFuture<String> second = mailer.send(gate);
            MDC.remove("requestId");
            List<CompletableFuture<Integer>> waiting = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                waiting.add(mailer.add(order, i));
            }

            TaskLimit limit = context.getBean(TaskLimits.class).get("common");
            assertThat(limit.inUse()).isEqualTo(2);
            assertThat(limit.waiting()).isEqualTo(100);
            limit.resize(1);
            gate.countDown();
            assertThat(first.get(2, TimeUnit.MINUTES))
                    .startsWith("vt-Mailer.send-")
                    .endsWith("r-1");
            assertThat(second).succeedsWithin(2, TimeUnit.MINUTES);
            CompletableFuture.allOf(waiting.toArray(CompletableFuture[]::new)).get(2, TimeUnit.MINUTES);
            assertThat(order).hasSize(100).isSorted();
        });
    }

    @Test
    void cancellingInterruptsABodyAndACallThatWaitsNeverRuns() {
        pool.run(context -> {
            Mailer mailer = context.getBean(Mailer.class);
            CompletableFuture<?> held = mailer.confirm(new CountDownLatch(1));
            CompletableFuture<?> waiting = mailer.confirm(new CountDownLatch(1));

            assertThat(confirming.await(2, TimeUnit.MINUTES)).isTrue();
            waiting.cancel(true);
            held.cancel(true);

            assertThat(interrupted.await(2, TimeUnit.MINUTES)).isTrue();
            assertThat(context.getBean(VirtualThreads.class).awaitIdle(Duration.ofMinutes(2)))
                    .isTrue();
            assertThat(confirmed).hasValue(1);
        });
    }

    @Test
    void aPoolIsReplacedAndNeverCreated() {
        created.set(0);
        pool.withBean(AsksByName.class).run(context -> {
            CountDownLatch gate = new CountDownLatch(1);
            CompletableFuture<String> held = context.getBean(Mailer.class).confirm(gate);

            assertThat(context.getBean(TaskLimits.class).get("mail").inUse()).isEqualTo(1);
            gate.countDown();
            assertThat(held.get(2, TimeUnit.MINUTES)).startsWith("vt-Mailer.confirm-");
            assertThat(context.getBean("mailExecutor"))
                    .isInstanceOf(ExecutorView.class)
                    .hasToString("mailExecutor under limit 'mail'")
                    .isSameAs(context.getBean("mails"))
                    .isSameAs(context.getBean(AsksByName.class).executor);
            assertThat(context.getBean(AsksByName.class).all).containsOnlyKeys("mailExecutor");
            assertThat(created).hasValue(0);
        });
    }

    @Test
    void aTaskByHandHasTheNameOfTheBean() {
        pool.run(context -> assertThat(context.getBean("mailExecutor", AsyncTaskExecutor.class)
                        .submitCompletable(() -> Thread.currentThread().getName())
                        .get(2, TimeUnit.MINUTES))
                .startsWith("vt-mailExecutor-"));
    }

    @Test
    void theOnlyExecutorOfTheApplicationStaysThatOfMethodsWithoutAName() {
        pool.run(context -> {
            assertThat(context).doesNotHaveBean("applicationTaskExecutor");
            assertThat(threadOfSend(context)).startsWith("vt-Mailer.send-");
        });
    }

    @Test
    void anAliasMeansItsBean() {
        runner.withUserConfiguration(MailPool.class)
                .withPropertyValues("virtual-thread.async.executors.mails=mail")
                .run(context -> assertThat(context.getBean("mailExecutor")).isInstanceOf(ExecutorView.class));
    }

    @Test
    void primaryAndQualifiersAreKept() {
        runner.withUserConfiguration(Pools.class)
                .withBean(AsksByQualifier.class)
                .withPropertyValues(
                        "virtual-thread.async.executors.fast=mail", "virtual-thread.async.executors.slow=common")
                .run(context -> {
                    AsksByQualifier asks = context.getBean(AsksByQualifier.class);

                    assertThat(asks.primary).hasToString("fast under limit 'mail'");
                    assertThat(asks.qualified).hasToString("slow under limit 'common'");
                    assertThat(asks.marked).hasToString("slow under limit 'common'");
                });
    }

    @Test
    void anAddedExecutorMakesNoInjectionAmbiguous() {
        runner.withUserConfiguration(MailPool.class)
                .withBean(AsksByType.class)
                .withPropertyValues(
                        "virtual-thread.async.limit=common",
                        "virtual-thread.async.executors.virtualThreadExecutor=none")
                .run(context -> {
                    assertThat(context.getBean(AsksByType.class).executor).isSameAs(context.getBean("mailExecutor"));
                    assertThat(context.getBean("mailExecutor")).isInstanceOf(ThreadPoolTaskExecutor.class);
                    assertThat(context.getBean("virtualThreadExecutor"))
                            .hasToString("virtualThreadExecutor under limit 'none'");
                    assertThat(threadOfSend(context)).startsWith("vt-Mailer.send-");
                });
    }

    @Test
    void asyncIsLimitedBesideASchedulerAndWithEveryModeOfSpringBoot() {
        for (String setting : List.of(
                "spring.threads.virtual.enabled=true",
                "spring.threads.virtual.enabled=false",
                "spring.task.execution.mode=force",
                "spring.task.execution.mode=auto")) {
            common.withUserConfiguration(Scheduling.class)
                    .withPropertyValues(setting)
                    .run(context -> {
                        assertThat(context.getBean("applicationTaskExecutor"))
                                .as(setting)
                                .hasToString("applicationTaskExecutor under limit 'common'");
                        assertThat(context).hasSingleBean(TaskScheduler.class);
                        assertThat(threadOfSend(context)).as(setting).startsWith("vt-Mailer.send-");
                    });
        }
    }

    @Test
    void withModeForceItReplacesTheExecutorBesideThoseOfTheApplication() {
        runner.withUserConfiguration(MailPool.class)
                .withPropertyValues("virtual-thread.async.limit=common", "spring.task.execution.mode=force")
                .run(context -> {
                    assertThat(context.getBean("applicationTaskExecutor")).isInstanceOf(ExecutorView.class);
                    assertThat(context.getBean("mailExecutor")).isInstanceOf(ThreadPoolTaskExecutor.class);
                });
    }

    @Test
    void theLimitWinsOverTheExecutorOfAnAsyncConfigurerAndSaysSo(CapturedOutput output) {
        common.withUserConfiguration(OwnConfigurer.class).run(context -> {
            assertThat(threadOfSend(context)).startsWith("vt-Mailer.send-");
            assertThat(output)
                    .contains("; @Async under limit common; OwnConfigurer.getAsyncExecutor() is not used, because"
                            + " virtual-thread.async.limit is set");
        });
    }

    @Test
    void otherExecutorsStayUntouched() {
        runner.withUserConfiguration(OwnConfigurer.class)
                .withPropertyValues("virtual-thread.async.executors.extra=mail")
                .run(context -> assertThat(threadOfSend(context)).startsWith("own-"));
    }

    @Test
    void theFailureOfAVoidMethodReachesTheHandlerOfTheApplication() {
        common.withUserConfiguration(OwnConfigurer.class).run(context -> {
            context.getBean(Mailer.class).fail("order 1");

            Uncaught uncaught = context.getBean(OwnConfigurer.class).uncaught.get(2, TimeUnit.MINUTES);
            assertThat(uncaught.failure).isInstanceOf(IllegalStateException.class);
            assertThat(uncaught.method).isEqualTo("fail");
            assertThat(uncaught.arguments).containsExactly("order 1");
        });
    }

    @Test
    void theFailureOfAVoidMethodReachesTheHandlerThatSpringsPostProcessorHas() {
        CompletableFuture<Uncaught> uncaught = new CompletableFuture<>();
        plain.withBean(AsyncAnnotationBeanPostProcessor.class, () -> {
                    AsyncAnnotationBeanPostProcessor byHand = new AsyncAnnotationBeanPostProcessor();
                    byHand.setExceptionHandler((failure, method, arguments) ->
                            uncaught.complete(new Uncaught(failure, method.getName(), arguments)));
                    return byHand;
                })
                .withBean(Mailer.class, this)
                .withPropertyValues("virtual-thread.async.limit=common")
                .run(context -> {
                    context.getBean(Mailer.class).fail("order 1");

                    assertThat(uncaught.get(2, TimeUnit.MINUTES).arguments).containsExactly("order 1");
                });
    }

    @Test
    void aLaterRejectionOfAVoidMethodReachesTheHandlerOfTheApplication() {
        common.withUserConfiguration(OwnConfigurer.class)
                .withPropertyValues("virtual-thread.limits.common.max-wait=10ms")
                .run(context -> {
                    CountDownLatch gate = new CountDownLatch(1);
                    Mailer mailer = context.getBean(Mailer.class);
                    CompletableFuture<?> first = mailer.send(gate);
                    CompletableFuture<?> second = mailer.send(gate);

                    mailer.fail("order 1");

                    Uncaught uncaught =
                            context.getBean(OwnConfigurer.class).uncaught.get(2, TimeUnit.MINUTES);
                    assertThat(uncaught.failure)
                            .isInstanceOf(LimitExceededException.class)
                            .hasMessageContaining("Mailer.fail");
                    assertThat(uncaught.method).isEqualTo("fail");
                    assertThat(uncaught.arguments).containsExactly("order 1");
                    gate.countDown();
                    assertThat(CompletableFuture.allOf(first, second)).succeedsWithin(2, TimeUnit.MINUTES);
                });
    }

    @Test
    void aFullQueueIsThrownAtTheCallerAsByAPool() {
        common.withPropertyValues("virtual-thread.limits.common.queue-capacity=0")
                .run(context -> {
                    CountDownLatch gate = new CountDownLatch(1);
                    Mailer mailer = context.getBean(Mailer.class);
                    CompletableFuture<?> first = mailer.send(gate);
                    CompletableFuture<?> second = mailer.send(gate);

                    assertThatThrownBy(() -> mailer.fail("order 1")).isInstanceOf(LimitExceededException.class);
                    assertThatThrownBy(() -> mailer.send(gate)).isInstanceOf(LimitExceededException.class);
                    gate.countDown();
                    assertThat(CompletableFuture.allOf(first, second)).succeedsWithin(2, TimeUnit.MINUTES);
                });
    }

    @Test
    void aCallThatWaitsForAnotherOfItsLimitIsNamed(CapturedOutput output) {
        pool.withBean(Outer.class).run(context -> {
            CompletableFuture<?> outer = context.getBean(Outer.class).confirm();
            outer.get(2, TimeUnit.MINUTES);

            assertThat(output).contains("Outer.confirm calls Mailer.confirm while it holds a permit of limit 'mail'");
        });
    }

    @Test
    @SuppressWarnings({"deprecation", "removal"})
    void aListenableFutureOfSpring6IsReturned() {
        pool.withBean(Listenables.class).run(context -> {
            var listenable = context.getBean(Listenables.class).send();

            assertThat(listenable.completable().get(2, TimeUnit.MINUTES)).startsWith("vt-Listenables.send-");
        });
    }

    @Test
    void withInterceptionDisabledExecutorsStayAndAddedOnesUseTheThreadOfTheCaller(CapturedOutput output) {
        runner.withBean("mailExecutor", Executor.class, SyncTaskExecutor::new)
                .withPropertyValues(
                        "virtual-thread.enabled=false",
                        "virtual-thread.async.executors.mailExecutor=mail",
                        "virtual-thread.async.executors.added=mail")
                .run(context -> {
                    assertThat(context.getBean("mailExecutor")).isInstanceOf(SyncTaskExecutor.class);
                    assertThat(context.getBean("added", AsyncTaskExecutor.class)
                                    .submit(Thread::currentThread)
                                    .get())
                            .isSameAs(Thread.currentThread());
                    assertThat(output).doesNotContain("executors mailExecutor");
                });
    }

    @Test
    void withoutAKeyThereIsNoBean() {
        runner.run(context -> {
            assertThat(context)
                    .doesNotHaveBean(AsyncMethods.class)
                    .doesNotHaveBean(AsyncCheck.class)
                    .doesNotHaveBean("virtualThreadExecutor")
                    .doesNotHaveBean(VirtualThreadAsyncAutoConfiguration.class);
            assertThat(threadOfSend(context)).startsWith("task-");
        });
    }

    @Test
    void withoutAKeyAnApplicationHasTheExecutorsThatItHasWithoutTheStarter() {
        runner.withUserConfiguration(MailPool.class).run(context -> {
            assertThat(context.getBeanNamesForType(Executor.class)).containsExactly("mailExecutor");
            assertThat(context.getBeansOfType(AsyncTaskExecutor.class)).containsOnlyKeys("mailExecutor");
        });
    }

    @Test
    void anObjectThatExistsAlreadyFailsTheStart() {
        plain.withInitializer(
                        context -> context.getBeanFactory().registerSingleton("mailExecutor", new SyncTaskExecutor()))
                .withPropertyValues("virtual-thread.async.executors.mailExecutor=mail")
                .run(
                        context -> assertThat(context)
                                .getFailure()
                                .hasMessageContaining(
                                        "virtual-thread.async.executors.mailExecutor: the bean 'mailExecutor' exists already and cannot be"
                                                + " replaced. Declare it by a @Bean method that no post-processor needs, or remove the entry."));
    }

    @Test
    void anInjectionByTheClassOfAPoolIsExplained(CapturedOutput output) {
        for (Class<?> asking : List.of(AsksByClass.class, LooksUpByClass.class)) {
            assertThatThrownBy(() -> new SpringApplicationBuilder(MailPool.class, asking, Imported.class)
                            .web(WebApplicationType.NONE)
                            .run(
                                    "--virtual-thread.limits.mail.permits=1",
                                    "--virtual-thread.async.executors.mailExecutor=mail"))
                    .isInstanceOf(BeanCreationException.class);

            assertThat(output)
                    .as(asking.getSimpleName())
                    .containsSubsequence(
                            "APPLICATION FAILED TO START",
                            "Bean 'mailExecutor' was a ThreadPoolTaskExecutor until virtual-thread.async.executors.mailExecutor"
                                    + " replaced it",
                            "Inject Executor or AsyncTaskExecutor, or remove the entry.");
        }
    }

    @Test
    void theStartSaysWhichExecutorsAreLimited(CapturedOutput output) {
        pool.withPropertyValues("virtual-thread.async.limit=common").run(context -> assertThat(output)
                .contains("; @Async under limit common; executors mailExecutor (mail)"));
    }

    @Test
    void aChildContextHasTheExecutorOfItsParent() {
        common.run(parent -> plain.withPropertyValues("virtual-thread.async.limit=common")
                .withUserConfiguration(Asynchronous.class)
                .withBean(Mailer.class, this)
                .withParent(parent)
                .run(child -> {
                    assertThat(child.getBean("applicationTaskExecutor"))
                            .isSameAs(parent.getBean("applicationTaskExecutor"));
                    assertThat(child.getBean(TaskEngine.class)).isSameAs(parent.getBean(TaskEngine.class));
                    assertThat(threadOfSend(child)).startsWith("vt-Mailer.send-");
                }));
    }

    @Test
    void blankValuesAskForNothing() {
        runner.withPropertyValues("virtual-thread.async.limit=", "virtual-thread.async.executors.mailExecutor=")
                .run(context ->
                        assertThat(context).doesNotHaveBean("mailExecutor").doesNotHaveBean(AsyncCheck.class));
    }

    private static String threadOfSend(ApplicationContext context) throws Exception {
        return context.getBean(Mailer.class).send(new CountDownLatch(0)).get(2, TimeUnit.MINUTES);
    }

    static class Mailer {

        private final AsyncExecutorsTests test;

        Mailer(AsyncExecutorsTests test) {
            this.test = test;
        }

        @Async
        CompletableFuture<String> send(CountDownLatch gate) throws InterruptedException {
            gate.await();
            return CompletableFuture.completedFuture(Thread.currentThread().getName() + MDC.get("requestId"));
        }

        @Async
        CompletableFuture<Integer> add(List<Integer> order, int number) {
            order.add(number);
            return CompletableFuture.completedFuture(number);
        }

        @Async
        void fail(String order) {
            throw new IllegalStateException(order);
        }

        @Async("mailExecutor")
        CompletableFuture<String> confirm(CountDownLatch gate) {
            test.confirmed.incrementAndGet();
            test.confirming.countDown();
            try {
                gate.await();
            } catch (InterruptedException expected) {
                test.interrupted.countDown();
            }
            return CompletableFuture.completedFuture(Thread.currentThread().getName());
        }
    }

    static class Outer {

        @Autowired
        Mailer mailer;

        @Async("mailExecutor")
        CompletableFuture<?> confirm() {
            return CompletableFuture.completedFuture(mailer.confirm(new CountDownLatch(0)));
        }
    }

    static class Listenables {

        @Async("mailExecutor")
        @SuppressWarnings({"deprecation", "removal"})
        org.springframework.util.concurrent.ListenableFuture<String> send() {
            return new org.springframework.scheduling.annotation.AsyncResult<>(
                    Thread.currentThread().getName());
        }
    }

    static class AsksByName {

        @Autowired
        @Qualifier("mailExecutor")
        Executor executor;

        @Autowired
        Map<String, Executor> all;
    }

    static class AsksByQualifier {

        @Autowired
        Executor primary;

        @Autowired
        @Qualifier("reports")
        Executor qualified;

        @Autowired
        @Reports
        Executor marked;
    }

    record AsksByType(Executor executor, TaskExecutor taskExecutor) {}

    record AsksByClass(ThreadPoolTaskExecutor pool) {}

    static class LooksUpByClass {

        LooksUpByClass(BeanFactory beans) {
            beans.getBean("mailExecutor", ThreadPoolTaskExecutor.class);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        TaskExecutionAutoConfiguration.class,
        VirtualThreadAutoConfiguration.class,
        VirtualThreadAsyncAutoConfiguration.class
    })
    static class Imported {}

    record Uncaught(Throwable failure, String method, Object[] arguments) {}

    @Qualifier
    @Retention(RetentionPolicy.RUNTIME)
    @interface Reports {}

    @Configuration(proxyBeanMethods = false)
    @EnableAsync(proxyTargetClass = true)
    static class Asynchronous {}

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    static class Scheduling {}

    @Configuration(proxyBeanMethods = false)
    static class MailPool {

        @Bean({"mailExecutor", "mails"})
        ThreadPoolTaskExecutor mailExecutor() {
            created.incrementAndGet();
            return new ThreadPoolTaskExecutor();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Pools {

        @Bean
        @Primary
        ThreadPoolTaskExecutor fast() {
            return new ThreadPoolTaskExecutor();
        }

        @Bean
        @Qualifier("reports")
        @Reports
        ThreadPoolTaskExecutor slow() {
            return new ThreadPoolTaskExecutor();
        }
    }

    /** As many applications have it, also with another bean. */
    @Configuration
    static class OwnConfigurer implements AsyncConfigurer {

        private final CompletableFuture<Uncaught> uncaught = new CompletableFuture<>();

        @Bean
        Object another() {
            return new Object();
        }

        @Override
        public Executor getAsyncExecutor() {
            ThreadPoolTaskExecutor own = new ThreadPoolTaskExecutor();
            own.setThreadNamePrefix("own-");
            own.setDaemon(true);
            own.initialize();
            return own;
        }

        @Override
        public AsyncUncaughtExceptionHandler getAsyncUncaughtExceptionHandler() {
            return (failure, method, arguments) ->
                    uncaught.complete(new Uncaught(failure, method.getName(), arguments));
        }
    }
}
