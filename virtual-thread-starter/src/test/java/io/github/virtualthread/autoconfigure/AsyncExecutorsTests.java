package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.aopalliance.aop.Advice;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.MDC;
import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.CustomScopeConfigurer;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.OverridingClassLoader;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.SyncTaskExecutor;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.support.CompositeTaskDecorator;
import org.springframework.scheduling.annotation.AnnotationAsyncExecutionInterceptor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.AsyncAnnotationAdvisor;
import org.springframework.scheduling.annotation.AsyncAnnotationBeanPostProcessor;
import org.springframework.scheduling.annotation.AsyncConfigurer;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.concurrent.ConcurrentTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.util.ClassUtils;
import org.springframework.web.context.request.RequestScope;

/** Executors that become executors of limits. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class AsyncExecutorsTests {

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
    void aPoolKeepsItsTypeAndStartsNoThread() {
        pool.withBean(AsksByName.class).withBean(AsksByClass.class).run(context -> {
            CountDownLatch gate = new CountDownLatch(1);
            CompletableFuture<String> held = context.getBean(Mailer.class).confirm(gate);

            assertThat(context.getBean(TaskLimits.class).get("mail").inUse()).isEqualTo(1);
            gate.countDown();
            assertThat(held.get(2, TimeUnit.MINUTES)).startsWith("vt-Mailer.confirm-");
            assertThat(context.getBean("mailExecutor"))
                    .isInstanceOf(ThreadPoolTaskExecutor.class)
                    .hasToString("mailExecutor under limit 'mail'")
                    .isSameAs(context.getBean("mails"))
                    .isSameAs(context.getBean(AsksByName.class).executor)
                    .isSameAs(context.getBean(AsksByClass.class).pool());
            assertThat(context.getBean(AsksByName.class).all).containsOnlyKeys("mailExecutor");
            assertThat(context.getBean(MailPool.class).pool.getPoolSize()).isZero();
        });
    }

    @Test
    void amongPoolsOfOneClassEachIsFoundByItsName() {
        pool.withBean("slow", ThreadPoolTaskExecutor.class)
                .withBean(AsksByField.class)
                .run(context -> {
                    AsksByField asks = context.getBean(AsksByField.class);

                    assertThat(asks.mailExecutor).hasToString("mailExecutor under limit 'mail'");
                    assertThat(asks.pools.keySet()).containsExactlyInAnyOrder("mailExecutor", "slow");
                    assertThat(asks.pools.get("slow").toString()).doesNotContain("under limit");
                });
    }

    @Test
    void thePoolHasTheNumbersOfItsLimitAndRefusesToChangeThem() {
        pool.run(context -> {
            ThreadPoolTaskExecutor mails = context.getBean("mailExecutor", ThreadPoolTaskExecutor.class);
            CountDownLatch gate = new CountDownLatch(1);
            CompletableFuture<String> held = context.getBean(Mailer.class).confirm(gate);
            CompletableFuture<Void> waiting = mails.submitCompletable(() -> {});

            assertThat(mails.getActiveCount()).isEqualTo(1);
            assertThat(mails.getQueueSize()).isEqualTo(1);
            assertThatThrownBy(() -> mails.setCorePoolSize(8))
                    .hasMessage(
                            "mailExecutor under limit 'mail' has the numbers of its limit: setCorePoolSize has no effect");
            assertThatThrownBy(mails::getThreadPoolExecutor)
                    .hasMessage("mailExecutor under limit 'mail' has no ThreadPoolExecutor: ask getActiveCount() and"
                            + " getQueueSize(), or remove virtual-thread.async.executors.mailExecutor");
            gate.countDown();
            assertThat(CompletableFuture.allOf(held, waiting)).succeedsWithin(2, TimeUnit.MINUTES);
        });
    }

    @Test
    void theStartWarnsOfWhatAPoolDidAndALimitDoesNot(CapturedOutput output) {
        runner.withUserConfiguration(WithPolicies.class)
                .withPropertyValues(
                        "virtual-thread.async.executors.mailExecutor=mail",
                        "virtual-thread.async.executors.simple=mail",
                        "virtual-thread.async.executors.beans=mail",
                        "virtual-thread.async.executors.service=mail",
                        "virtual-thread.async.executors.adapted=mail",
                        "virtual-thread.async.executors.composite=mail")
                .run(context -> assertThat(output)
                        .contains(
                                "$Tenants of executor 'mailExecutor' is not used any more. Make it a bean of type TaskDecorator",
                                "$Tenants of executor 'simple' is not used any more",
                                "The CallerRunsPolicy of executor 'mailExecutor' is not used any more: a full queue rejects the task",
                                "The CallerRunsPolicy of executor 'service' is not used any more",
                                "The CallerRunsPolicy of executor 'adapted' is not used any more",
                                "$Tenants of executor 'composite' is not used any more")
                        .doesNotContain("of executor 'beans'"));
    }

    @Test
    void theStartWarnsOfAClassOfTheApplication(CapturedOutput output) {
        runner.withBean("mailExecutor", OwnPool.class)
                .withBean("simple", Executor.class, () -> Runnable::run)
                .withBean("scoped", ThreadPoolTaskExecutor.class)
                .withPropertyValues(
                        "virtual-thread.async.executors.mailExecutor=mail",
                        "virtual-thread.async.executors.simple=mail",
                        "virtual-thread.async.executors.scoped=mail")
                .run(context -> {
                    OwnPool own = context.getBean(OwnPool.class);
                    own.execute(() -> {}, "tag");

                    assertThat(own.tags()).containsExactly("tag");
                    assertThat(output)
                            .contains(
                                    "What submit of %1$s, the class of executor 'mailExecutor', adds to tasks is not used any more. A"
                                                    .formatted(OwnPool.class.getName())
                                            + " TaskDecorator bean can add it",
                                    "execute of %s, the class of executor 'mailExecutor', runs tasks without its limit"
                                            .formatted(OwnPool.class.getName()))
                            .doesNotContain("executor 'simple'", "executor 'scoped'");
                });
    }

    @Test
    void aDecoratorMayNeedTheExecutor() {
        ThreadPoolTaskExecutor decorated = new ThreadPoolTaskExecutor();
        decorated.setTaskDecorator(new Tenants());
        runner.withBean("mailExecutor", ThreadPoolTaskExecutor.class, () -> decorated)
                .withBean(NeedsExecutor.class)
                .withPropertyValues("virtual-thread.async.executors.mailExecutor=mail")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void aServiceOfTheJdkRunsManyTasksAndCannotBeEnded() {
        runner.withBean("mailExecutor", ExecutorService.class, Executors::newCachedThreadPool)
                .withPropertyValues("virtual-thread.async.executors.mailExecutor=mail")
                .run(context -> {
                    ExecutorService mails = context.getBean("mailExecutor", ExecutorService.class);
                    Callable<String> task = () -> Thread.currentThread().getName();

                    assertThat(mails.invokeAll(List.of(task)).getFirst().get()).startsWith("vt-mailExecutor-");
                    assertThatThrownBy(mails::shutdown).isInstanceOf(IllegalStateException.class);
                    assertThatThrownBy(() -> mails.awaitTermination(2, TimeUnit.MINUTES))
                            .isInstanceOf(IllegalStateException.class);
                });
    }

    /** As with Devtools, whose class loader has the classes of the application only. */
    @Test
    void aClassOfAnotherClassLoaderKeepsItsType() {
        ClassLoader restarted = new OverridingClassLoader(getClass().getClassLoader()) {
            @Override
            protected boolean isEligibleForOverriding(String className) {
                return className.startsWith(AsyncExecutorsTests.class.getName() + "$OwnPool");
            }
        };
        Class<?> type = ClassUtils.resolveClassName(OwnPool.class.getName(), restarted);
        runner.withClassLoader(restarted)
                .withInitializer(context -> ((GenericApplicationContext) context)
                        .registerBeanDefinition("mailExecutor", new RootBeanDefinition(type)))
                .withPropertyValues("virtual-thread.async.executors.mailExecutor=mail")
                .run(context -> assertThat(context.getBean("mailExecutor"))
                        .isInstanceOf(type)
                        .hasToString("mailExecutor under limit 'mail'"));
    }

    @Test
    void whoAsksForThePoolOfAnUnknownLimitDoesNotHideTheReport() {
        runner.withUserConfiguration(MailPool.class)
                .withBean(AsksForThePool.class)
                .withPropertyValues("virtual-thread.async.executors.mailExecutor=mial")
                .run(context -> assertThat(context).getFailure().hasMessageContaining("Did you mean 'mail'?"));
    }

    @Test
    void whatAPrototypeLosesIsToldOnce() {
        runner.withUserConfiguration(Prototypes.class)
                .withPropertyValues("virtual-thread.async.executors.mailExecutor=mail")
                .run(context -> {
                    for (int i = 0; i < 3; i++) {
                        assertThat(context.getBean("mailExecutor")).hasToString("mailExecutor under limit 'mail'");
                    }
                    assertThat(context.getBean(AsyncExecutors.class).losses()).hasSize(1);
                });
    }

    @Test
    void anExecutorOfAScopeIsUnderTheLimit() {
        runner.withUserConfiguration(Scoped.class)
                .withPropertyValues("virtual-thread.async.executors.mailExecutor=mail")
                .run(context -> assertThat(context.getBean(Mailer.class)
                                .confirm(new CountDownLatch(0))
                                .get(2, TimeUnit.MINUTES))
                        .startsWith("vt-Mailer.confirm-"));
    }

    @Test
    void methodsOfAnAnnotatedClassMayCallEachOther(CapturedOutput output) {
        common.withBean(OnClass.class).run(context -> assertThat(output)
                .contains("@Async: 5 methods under limit common")
                .doesNotContain("on its own object", "toString"));
    }

    @Test
    void theLimitOfAsyncMethodsChangesNoExecutor() {
        common.run(context -> {
            assertThat(context.getBean("applicationTaskExecutor").toString()).doesNotContain("under limit");
            assertThat(context.getBean("applicationTaskExecutor", AsyncTaskExecutor.class)
                            .submitCompletable(() -> Thread.currentThread().getName())
                            .get(2, TimeUnit.MINUTES))
                    .startsWith("task-");
        });
    }

    @Test
    void anAsyncConfigurerIsAskedOnce() {
        runner.withUserConfiguration(OwnConfigurer.class, MailPool.class)
                .withPropertyValues("virtual-thread.async.executors.mailExecutor=mail")
                .run(context -> {
                    assertThat(threadOfSend(context)).startsWith("own-");
                    assertThat(threadOfSend(context)).startsWith("own-");
                    assertThat(context.getBean(OwnConfigurer.class).asked).hasValue(1);
                });
    }

    @Test
    void theStartNamesMethodsThatNoLimitHas(CapturedOutput output) {
        common.withUserConfiguration(NeedsEarly.class).withBean(Early.class).run(context -> assertThat(output)
                .contains(
                        "$Early.send has @Async, but bean '", " has no advice for it, as it was created too early, "));
        common.withBean(NotOverridden.class).run(context -> assertThat(output)
                .contains("$NotOverridden.send has @Async, but the proxy cannot override it"));
        common.withBean(OtherType.class).run(context -> assertThat(output)
                .contains(
                        "$OtherType.send has @Async, but returns String, and Spring refuses its calls: return void or a"
                                + " Future"));
        common.withBean(Outer.class).run(context -> assertThat(output)
                .contains(
                        "$Outer.direct(AsyncExecutorsTests.java:",
                        "$Outer.confirm on its own object: the call bypasses"));
        plain.withBean(Mailer.class, this)
                .withPropertyValues("virtual-thread.async.limit=common")
                .run(
                        context -> assertThat(output)
                                .contains(
                                        "$Mailer.send has @Async, but no class has @EnableAsync: its calls run on the thread of "));
    }

    /** Spring asks a factory for its type if anybody looks for a bean by its type, and then has to create it. */
    @Test
    void whatAFactoryNeedsIsNotCreatedEarly() {
        runner.withUserConfiguration(NeedsMailerInFactory.class)
                .run(context -> assertThat(context.getBean(NeedsMailerByField.class).mailer)
                        .isNotNull());
        common.withUserConfiguration(NeedsMailerInFactory.class).run(context -> {
            assertThat(context.getBean(NeedsMailerByField.class).mailer).isNotNull();
            assertThat(threadOfSend(context)).startsWith("vt-Mailer.send-");
        });
    }

    /** The advice of others may find its executors by rules of its own. */
    @Test
    void theAdviceOfOthersStays(CapturedOutput output) {
        plain.withBean(AsyncAnnotationBeanPostProcessor.class, OwnAdvice::new)
                .withBean(Mailer.class, this)
                .withPropertyValues("virtual-thread.async.limit=common")
                .run(context -> {
                    assertThat(threadOfSend(context)).startsWith("own-");
                    assertThat(output)
                            .contains("$Mailer.send is run by ", ", which virtual-thread.async leaves as it is");
                });
    }

    @Test
    void aBeanThatAPostProcessorNeedsIsUnderTheLimit() {
        common.withUserConfiguration(NeedsMailer.class)
                .run(context -> assertThat(threadOfSend(context)).startsWith("vt-Mailer.send-"));
    }

    @Test
    void aSelfInvocationFailsTheStartWhereItIsToldTo() {
        common.withBean(Outer.class)
                .withPropertyValues("virtual-thread.self-invocation=fail")
                .run(context -> assertThat(context).getFailure().hasMessageContaining("on its own object"));
    }

    @Test
    void aTaskByHandHasTheNameOfTheBean() {
        pool.run(context -> assertThat(context.getBean("mailExecutor", AsyncTaskExecutor.class)
                        .submitCompletable(() -> Thread.currentThread().getName())
                        .get(2, TimeUnit.MINUTES))
                .startsWith("vt-mailExecutor-"));
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
    void otherExecutorsStayUntouched() {
        runner.withUserConfiguration(OwnConfigurer.class, MailPool.class)
                .withPropertyValues("virtual-thread.async.executors.mailExecutor=mail")
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
    void withoutAKeyThereIsNoBean() {
        runner.run(context -> {
            assertThat(context)
                    .doesNotHaveBean(AsyncExecutors.class)
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
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasMessageContaining(
                                "virtual-thread.async.executors.mailExecutor: the bean 'mailExecutor' was there before it could be"
                                        + " put under a limit. Declare it by a @Bean method that no post-processor needs, or remove the entry. In a test with"
                                        + " a mock, set virtual-thread.enabled to false."));
    }

    @Test
    void aConfigurerMayBeAnObject(CapturedOutput output) {
        plain.withUserConfiguration(Asynchronous.class)
                .withInitializer(
                        context -> context.getBeanFactory().registerSingleton("configurer", new OwnConfigurer()))
                .withPropertyValues("virtual-thread.async.limit=common")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(output).contains("OwnConfigurer.getAsyncExecutor() is not used");
                });
    }

    @Test
    void aChildContextHasTheExecutorOfItsParent() {
        String ofSpringBoot = "virtual-thread.async.executors.applicationTaskExecutor=common";
        runner.withPropertyValues(ofSpringBoot).run(parent -> plain.withPropertyValues(ofSpringBoot)
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

        CompletableFuture<?> direct() {
            return confirm();
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

    record AsksByClass(ThreadPoolTaskExecutor pool) {}

    static class AsksByField {

        @Autowired
        ThreadPoolTaskExecutor mailExecutor;

        @Autowired
        Map<String, ThreadPoolTaskExecutor> pools;
    }

    /** As Spring Boot's metrics do. */
    static class AsksForThePool {

        AsksForThePool(ThreadPoolTaskExecutor pool) {
            assertThatThrownBy(pool::getThreadPoolExecutor).isExactlyInstanceOf(IllegalStateException.class);
        }
    }

    @SuppressWarnings("serial")
    static class OwnPool extends ThreadPoolTaskExecutor {

        private final List<String> tags = new CopyOnWriteArrayList<>();

        List<String> tags() {
            return tags;
        }

        @Override
        public Future<?> submit(Runnable task) {
            return super.submit(task);
        }

        void execute(Runnable task, String tag) {
            tags.add(tag);
            execute(task);
        }
    }

    record NeedsExecutor(@Qualifier("mailExecutor") Executor executor) implements TaskDecorator {

        @Override
        public Runnable decorate(Runnable task) {
            return task;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Prototypes {

        @Bean
        @Scope(BeanDefinition.SCOPE_PROTOTYPE)
        ThreadPoolTaskExecutor mailExecutor() {
            ThreadPoolTaskExecutor pool = new ThreadPoolTaskExecutor();
            pool.setRejectedExecutionHandler(new ThreadPoolExecutor.CallerRunsPolicy());
            return pool;
        }
    }

    /** Of a scope that is not active when the application starts. */
    @Configuration(proxyBeanMethods = false)
    static class Scoped {

        @Bean
        static CustomScopeConfigurer scopes() {
            CustomScopeConfigurer scopes = new CustomScopeConfigurer();
            scopes.addScope("request", new RequestScope());
            return scopes;
        }

        @Bean
        @Scope(scopeName = "request", proxyMode = ScopedProxyMode.TARGET_CLASS)
        ThreadPoolTaskExecutor mailExecutor() {
            return new ThreadPoolTaskExecutor();
        }
    }

    @Async
    static class OnClass {

        public void all() {
            one();
        }

        public void one() {}

        @Override
        public String toString() {
            return "on class";
        }
    }

    static class Early {

        @Async
        void send() {}
    }

    static class NotOverridden {

        @Async
        final void send() {}

        @Async
        void another() {}
    }

    static class OtherType {

        @Async
        String send() {
            return "never";
        }
    }

    /** Its post-processor needs a bean, which so comes before that of Spring. */
    @Configuration(proxyBeanMethods = false)
    static class NeedsEarly {

        @Bean
        static First first(Early early) {
            return new First();
        }
    }

    private static final class First implements BeanPostProcessor, PriorityOrdered {

        @Override
        public int getOrder() {
            return HIGHEST_PRECEDENCE;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class NeedsMailerInFactory {

        @Bean
        static NeedsMailerByField needs() {
            return new NeedsMailerByField();
        }

        @Bean
        static Product product(NeedsMailerByField needs) {
            return new Product();
        }
    }

    static class NeedsMailerByField {

        @Autowired
        Mailer mailer;
    }

    private static final class Product implements FactoryBean<String> {

        @Override
        public String getObject() {
            return "product";
        }

        @Override
        public Class<?> getObjectType() {
            return String.class;
        }
    }

    @SuppressWarnings("serial")
    private static final class OwnAdvice extends AsyncAnnotationBeanPostProcessor {

        @Override
        public void setBeanFactory(BeanFactory beanFactory) {
            super.setBeanFactory(beanFactory);
            advisor = new AsyncAnnotationAdvisor() {
                @Override
                public Advice getAdvice() {
                    return new AnnotationAsyncExecutionInterceptor(new SimpleAsyncTaskExecutor("own-")) {};
                }
            };
        }
    }

    /** Its post-processor needs a bean, which so comes after that of Spring and before ours. */
    @Configuration(proxyBeanMethods = false)
    static class NeedsMailer {

        @Bean
        static BeanPostProcessor second(Mailer mailer) {
            return new BeanPostProcessor() {};
        }
    }

    /** A decorator that is no bean, and one that is. */
    record Tenants() implements TaskDecorator {

        @Override
        public Runnable decorate(Runnable task) {
            return task;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class WithPolicies {

        @Bean
        ThreadPoolTaskExecutor mailExecutor() {
            ThreadPoolTaskExecutor pool = new ThreadPoolTaskExecutor();
            pool.setTaskDecorator(new Tenants());
            pool.setRejectedExecutionHandler(new ThreadPoolExecutor.CallerRunsPolicy());
            return pool;
        }

        @Bean
        SimpleAsyncTaskExecutor simple() {
            SimpleAsyncTaskExecutor simple = new SimpleAsyncTaskExecutor();
            simple.setTaskDecorator(new Tenants());
            return simple;
        }

        @Bean
        ThreadPoolTaskExecutor beans(ObjectProvider<TaskDecorator> decorators) {
            ThreadPoolTaskExecutor pool = new ThreadPoolTaskExecutor();
            pool.setTaskDecorator(decorators.getObject());
            return pool;
        }

        @Bean
        ExecutorService service() {
            return new ThreadPoolExecutor(
                    1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), new ThreadPoolExecutor.CallerRunsPolicy());
        }

        @Bean
        ConcurrentTaskExecutor adapted() {
            return new ConcurrentTaskExecutor(service());
        }

        @Bean
        SimpleAsyncTaskExecutor composite(TaskDecorator decorator) {
            SimpleAsyncTaskExecutor composite = new SimpleAsyncTaskExecutor();
            composite.setTaskDecorator(new CompositeTaskDecorator(List.of(new Tenants(), decorator)));
            return composite;
        }

        @Bean
        TaskDecorator decorator() {
            return task -> task;
        }
    }

    record Uncaught(Throwable failure, String method, Object[] arguments) {}

    @Qualifier
    @Retention(RetentionPolicy.RUNTIME)
    @interface Reports {}

    @Configuration(proxyBeanMethods = false)
    @EnableAsync(proxyTargetClass = true)
    static class Asynchronous {}

    @Configuration(proxyBeanMethods = false)
    static class MailPool {

        private final ThreadPoolTaskExecutor pool = new ThreadPoolTaskExecutor();

        @Bean({"mailExecutor", "mails"})
        ThreadPoolTaskExecutor mailExecutor() {
            return pool;
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
        private final AtomicInteger asked = new AtomicInteger();

        @Bean
        Object another() {
            return new Object();
        }

        @Override
        public Executor getAsyncExecutor() {
            asked.incrementAndGet();
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
