package io.github.virtualthread.autoconfigure.async;

import io.github.virtualthread.autoconfigure.VirtualThreadAsyncAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.MDC;
import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.TaskDecorator;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.AsyncConfigurer;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/** Methods with {@code @Async}, and contexts that put them, or an executor of theirs, under a limit. */
abstract class AsyncApplications {

    final AtomicInteger confirmed = new AtomicInteger();
    final CountDownLatch confirming = new CountDownLatch(1);
    final CountDownLatch interrupted = new CountDownLatch(1);

    final ApplicationContextRunner plain = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class,
                    VirtualThreadAsyncAutoConfiguration.class,
                    TaskExecutionAutoConfiguration.class,
                    TaskSchedulingAutoConfiguration.class))
            .withPropertyValues("virtual-thread.limits.common.permits=2", "virtual-thread.limits.mail.permits=1");

    final ApplicationContextRunner runner =
            plain.withUserConfiguration(Asynchronous.class).withBean(Mailer.class, this);

    final ApplicationContextRunner common = runner.withPropertyValues("virtual-thread.async.limit=common");

    final ApplicationContextRunner pool = runner.withUserConfiguration(MailPool.class)
            .withPropertyValues("virtual-thread.async.executors.mailExecutor=mail");

    static String threadOfSend(ApplicationContext context) throws Exception {
        return context.getBean(Mailer.class).send(new CountDownLatch(0)).get(2, TimeUnit.MINUTES);
    }

    static class Mailer {

        final AsyncApplications test;

        Mailer(AsyncApplications test) {
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

    @SuppressWarnings("serial")
    static class OwnPool extends ThreadPoolTaskExecutor {

        final List<String> tags = new CopyOnWriteArrayList<>();

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

    /** A decorator that is no bean, and one that is. */
    record Tenants() implements TaskDecorator {

        @Override
        public Runnable decorate(Runnable task) {
            return task;
        }
    }

    record Uncaught(Throwable failure, String method, Object[] arguments) {}

    @Configuration(proxyBeanMethods = false)
    @EnableAsync(proxyTargetClass = true)
    static class Asynchronous {}

    @Configuration(proxyBeanMethods = false)
    static class MailPool {

        final ThreadPoolTaskExecutor pool = new ThreadPoolTaskExecutor();

        @Bean({"mailExecutor", "mails"})
        ThreadPoolTaskExecutor mailExecutor() {
            return pool;
        }
    }

    /** As many applications have it, also with another bean. */
    @Configuration
    static class OwnConfigurer implements AsyncConfigurer {

        final CompletableFuture<Uncaught> uncaught = new CompletableFuture<>();
        final AtomicInteger asked = new AtomicInteger();

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
