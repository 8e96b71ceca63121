package io.github.virtualthread.autoconfigure.async;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.support.CompositeTaskDecorator;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.concurrent.ConcurrentTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/** What the log says of {@code @Async} under limits. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class AsyncWarningsTests extends AsyncApplications {

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
    void methodsOfAnAnnotatedClassMayCallEachOther(CapturedOutput output) {
        common.withBean(OnClass.class).run(context -> assertThat(output)
                .contains("@Async: 5 methods under limit common")
                .doesNotContain("on its own object", "toString"));
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
                        "$Outer.direct(AsyncWarningsTests.java:",
                        "$Outer.confirm on its own object: the call bypasses"));
        plain.withBean(Mailer.class, this)
                .withPropertyValues("virtual-thread.async.limit=common")
                .run(
                        context -> assertThat(output)
                                .contains(
                                        "$Mailer.send has @Async, but no class has @EnableAsync: its calls run on the thread of "));
    }

    @Test
    void aSelfInvocationFailsTheStartWhereItIsToldTo() {
        common.withBean(Outer.class)
                .withPropertyValues("virtual-thread.self-invocation=fail")
                .run(context -> assertThat(context).getFailure().hasMessageContaining("on its own object"));
    }

    @Test
    void aCallThatWaitsForAnotherOfItsLimitIsNamed(CapturedOutput output) {
        pool.withBean(Outer.class).run(context -> {
            CompletableFuture<?> outer = context.getBean(Outer.class).confirm();
            outer.get(2, TimeUnit.MINUTES);

            assertThat(output).contains("Outer.confirm calls Mailer.confirm while it holds a permit of limit 'mail'");
        });
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
}
