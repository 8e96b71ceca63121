package io.github.virtualthread.autoconfigure.async;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.TaskLimits;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.CustomScopeConfigurer;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.OverridingClassLoader;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.SyncTaskExecutor;
import org.springframework.core.task.TaskDecorator;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.util.ClassUtils;
import org.springframework.web.context.request.RequestScope;

/** Executors that become executors of limits. */
@Timeout(300)
class AsyncExecutorsTests extends AsyncApplications {

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
                return className.startsWith(OwnPool.class.getName());
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
    @SuppressWarnings({"deprecation", "removal"})
    void aListenableFutureOfSpring6IsReturned() {
        pool.withBean(Listenables.class).run(context -> {
            var listenable = context.getBean(Listenables.class).send();

            assertThat(listenable.completable().get(2, TimeUnit.MINUTES)).startsWith("vt-Listenables.send-");
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

    @Qualifier
    @Retention(RetentionPolicy.RUNTIME)
    @interface Reports {}

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
}
