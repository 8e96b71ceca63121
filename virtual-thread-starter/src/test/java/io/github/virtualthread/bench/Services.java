package io.github.virtualthread.bench;

import io.github.resilience4j.bulkhead.Bulkhead;
import io.github.resilience4j.bulkhead.BulkheadConfig;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.autoconfigure.VirtualThreadAsyncAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskDecorator;
import org.springframework.resilience.annotation.ConcurrencyLimit;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/** One service by different means, as applications write it. */
final class Services {

    private Services() {}

    /** Without any advice. */
    static class Service {

        private final Callable<?> body;

        Service(Callable<?> body) {
            this.body = body;
        }

        CompletableFuture<Object> call() throws Exception {
            return CompletableFuture.completedFuture(body.call());
        }
    }

    static class AsyncService extends Service {

        AsyncService(Callable<?> body) {
            super(body);
        }

        @Override
        @org.springframework.scheduling.annotation.Async
        CompletableFuture<Object> call() throws Exception {
            return super.call();
        }
    }

    /** The advice of @Async is outside, by Spring's default: who waits for the limit, and blocks, is the virtual thread. */
    static class ConcurrencyLimitService extends Service {

        ConcurrencyLimitService(Callable<?> body) {
            super(body);
        }

        @Override
        @org.springframework.scheduling.annotation.Async
        @ConcurrencyLimit(limitString = "${bench.permits}")
        CompletableFuture<Object> call() throws Exception {
            return super.call();
        }
    }

    static class VirtualService extends Service {

        VirtualService(Callable<?> body) {
            super(body);
        }

        @Override
        @VirtualThread
        CompletableFuture<Object> call() throws Exception {
            return super.call();
        }
    }

    static class LimitedService extends Service {

        LimitedService(Callable<?> body) {
            super(body);
        }

        @Override
        @VirtualThread("db")
        CompletableFuture<Object> call() throws Exception {
            return super.call();
        }
    }

    static class Floor {

        @Bean
        Service service(Callable<?> body) {
            return advised(body, task -> task);
        }

        static Service advised(Callable<?> body, TaskDecorator decorator) {
            ProxyFactory proxies = new ProxyFactory(new Service(body));
            proxies.setProxyTargetClass(true);
            proxies.addAdvice(new FloorAdvice(decorator));
            return (Service) proxies.getProxy();
        }
    }

    /** What somebody writes who needs a limit and the MDC, and no more: the virtual thread waits for a fair semaphore. */
    static class ByHand {

        @Bean
        Service service(Callable<?> body, @Value("${bench.permits}") int permits) {
            return Floor.advised(guarded(new Semaphore(permits, true), body), new MdcDecorator());
        }
    }

    /** The body under a permit. */
    static Callable<?> guarded(Semaphore semaphore, Callable<?> body) {
        return () -> {
            semaphore.acquire();
            try {
                return body.call();
            } finally {
                semaphore.release();
            }
        };
    }

    @EnableAsync
    @Import(AsyncService.class)
    static class Async {

        @Bean
        SimpleAsyncTaskExecutor taskExecutor() {
            SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor("async-");
            executor.setVirtualThreads(true);
            return executor;
        }
    }

    static class WithMdc {

        @Bean
        SimpleAsyncTaskExecutor taskExecutor() {
            SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor("async-");
            executor.setVirtualThreads(true);
            executor.setTaskDecorator(new MdcDecorator());
            return executor;
        }
    }

    /** The limit that Spring's executor has itself: its caller waits. Carries the MDC. */
    @EnableAsync
    @Import(AsyncService.class)
    static class AsyncLimited {

        @Bean
        SimpleAsyncTaskExecutor taskExecutor(@Value("${bench.permits}") int permits) {
            SimpleAsyncTaskExecutor executor = new WithMdc().taskExecutor();
            executor.setConcurrencyLimit(permits);
            return executor;
        }
    }

    /** {@code @Async} that a property puts under a limit. */
    @EnableAsync
    @ImportAutoConfiguration({
        TaskExecutionAutoConfiguration.class,
        VirtualThreadAutoConfiguration.class,
        VirtualThreadAsyncAutoConfiguration.class
    })
    @Import(AsyncService.class)
    static class OursAsync {}

    /** Has as many virtual threads as permits, and an unbounded queue for the calls that wait. Carries the MDC. */
    @EnableAsync
    @Import(AsyncService.class)
    static class AsyncPool {

        @Bean
        ThreadPoolTaskExecutor taskExecutor(@Value("${bench.permits}") int permits) {
            ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
            executor.setThreadNamePrefix("pool-");
            executor.setVirtualThreads(true);
            executor.setCorePoolSize(permits);
            executor.setTaskDecorator(new MdcDecorator());
            return executor;
        }
    }

    /** Carries the MDC, and waits for the bulkhead on the virtual thread. */
    @EnableAsync
    static class AsyncFull extends WithMdc {

        @Bean
        Service service(Callable<?> body, @Value("${bench.permits}") int permits) {
            BulkheadConfig config = BulkheadConfig.custom()
                    .maxConcurrentCalls(permits)
                    .maxWaitDuration(Duration.ofHours(1))
                    .build();
            return new AsyncService(Bulkhead.decorateCallable(Bulkhead.of("db", config), body));
        }
    }

    /** The same with the limit that Spring has itself since 7. */
    @EnableAsync
    @EnableResilientMethods
    @Import(ConcurrencyLimitService.class)
    static class Spring7 extends WithMdc {}

    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    @Import(VirtualService.class)
    static class Ours {}

    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    @Import(LimitedService.class)
    static class OursFull {}

    /**
     * {@link Ours} in an application as people have it: with Spring's transactions, Actuator, Spring Security, Micrometer and its
     * context-propagation on the classpath, and with all auto-configurations. All of the caller's context is carried, but nothing
     * is set in it. There is no meter registry, and no endpoint is exposed, which is the default.
     */
    @EnableAutoConfiguration
    @Import(VirtualService.class)
    static class OursApp {}

    @EnableAutoConfiguration
    @Import({VirtualService.class, SimpleMeterRegistry.class})
    static class OursAppMetered {}
}
