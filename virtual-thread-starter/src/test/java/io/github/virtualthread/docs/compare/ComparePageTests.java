package io.github.virtualthread.docs.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskRejectedException;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/** What compare.md says of Spring's executors is so. Each of them lets one call run at once. */
@Timeout(300)
class ComparePageTests {

    private final CountDownLatch gate = new CountDownLatch(1);

    @Test
    void aSimpleExecutorBlocksItsCallerAtTheLimit() throws Exception {
        try (var context = context(Simple.class)) {
            Mailer mailer = context.getBean(Mailer.class);
            mailer.block(gate);
            Thread caller = Thread.ofPlatform().start(() -> mailer.block(gate));
            while (caller.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }

            assertThat(caller.getStackTrace())
                    .extracting(StackTraceElement::getClassName)
                    .contains("org.springframework.util.ConcurrencyThrottleSupport");
            gate.countDown();
            caller.join();
        }
    }

    @Test
    void aSimpleExecutorMayRejectInstead() {
        try (var context = context(Simple.class)) {
            context.getBean(SimpleAsyncTaskExecutor.class).setRejectTasksWhenLimitReached(true);
            Mailer mailer = context.getBean(Mailer.class);
            mailer.block(gate);

            assertThatThrownBy(() -> mailer.block(gate)).isInstanceOf(TaskRejectedException.class);
            gate.countDown();
        }
    }

    @Test
    void aPoolQueuesAndItsCallerGoesOn() {
        try (var context = context(Pool.class)) {
            Mailer mailer = context.getBean(Mailer.class);
            mailer.block(gate);
            mailer.block(gate);

            assertThat(context.getBean(ThreadPoolTaskExecutor.class).getQueueSize())
                    .isEqualTo(1);
            gate.countDown();
        }
    }

    @Test
    void aCallFromABodyTakesASecondPlace() {
        try (var simple = context(Simple.class);
                var pool = context(Pool.class)) {
            simple.getBean(SimpleAsyncTaskExecutor.class).setRejectTasksWhenLimitReached(true);
            Mailer ofSimple = simple.getBean(Mailer.class);
            Mailer ofPool = pool.getBean(Mailer.class);

            assertThatThrownBy(() -> ofSimple.call(() -> ofSimple.block(gate)).join())
                    .hasCauseInstanceOf(TaskRejectedException.class);
            ofPool.call(() -> {
                        ofPool.block(gate);
                        assertThat(pool.getBean(ThreadPoolTaskExecutor.class).getQueueSize())
                                .isEqualTo(1);
                    })
                    .join();
            gate.countDown();
        }
    }

    @Test
    void aThreadOfAPoolWaitsForAnIncompleteFuture() {
        try (var context = context(Pool.class)) {
            Mailer mailer = context.getBean(Mailer.class);
            CompletableFuture<String> incomplete = new CompletableFuture<>();
            CompletableFuture<String> first = mailer.send(incomplete);
            CompletableFuture<String> second = mailer.send(CompletableFuture.completedFuture("second"));

            assertThat(context.getBean(ThreadPoolTaskExecutor.class).getQueueSize())
                    .isEqualTo(1);
            incomplete.complete("first");
            assertThat(first.join() + second.join()).isEqualTo("firstsecond");
        }
    }

    @Test
    void theNextCallOfAPoolSeesTheThreadLocalsOfTheOneBefore() {
        try (var context = context(Pool.class)) {
            Mailer mailer = context.getBean(Mailer.class);

            assertThat(mailer.tell("bob").join()).isEqualTo("null");
            assertThat(mailer.tell("alice").join()).isEqualTo("bob");
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {Simple.class, Pool.class})
    void cancelInterruptsTheBodyOfAMethodDeclaredWithFuture(Class<?> executor) throws Exception {
        try (var context = context(executor)) {
            CountDownLatch started = new CountDownLatch(1);
            BlockingQueue<String> ended = new LinkedBlockingQueue<>();
            Future<String> call = context.getBean(Mailer.class).blockAndTell(started, gate, ended);
            started.await();

            call.cancel(true);

            assertThat(ended.take()).isEqualTo("interrupted");
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {Simple.class, Pool.class})
    void aWrongReturnTypeFailsTheFirstCall(Class<?> executor) {
        try (var context = context(executor)) {
            Mailer mailer = context.getBean(Mailer.class);

            assertThatThrownBy(mailer::plain).isInstanceOf(IllegalArgumentException.class);
        }
    }

    private static AnnotationConfigApplicationContext context(Class<?> executor) {
        return new AnnotationConfigApplicationContext(executor, Mailer.class);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class Simple {

        @Bean
        SimpleAsyncTaskExecutor executor() {
            SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor();
            executor.setVirtualThreads(true);
            executor.setConcurrencyLimit(1);
            return executor;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class Pool {

        @Bean
        ThreadPoolTaskExecutor executor() {
            ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
            executor.setVirtualThreads(true);
            executor.setCorePoolSize(1);
            return executor;
        }
    }

    static class Mailer {

        private final ThreadLocal<String> last = new ThreadLocal<>();

        @Async
        void block(CountDownLatch gate) {
            try {
                gate.await();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        }

        @Async
        CompletableFuture<String> call(Runnable other) {
            other.run();
            return CompletableFuture.completedFuture("done");
        }

        @Async
        CompletableFuture<String> send(CompletableFuture<String> answer) {
            return answer;
        }

        @Async
        CompletableFuture<String> tell(String name) {
            String before = last.get();
            last.set(name);
            return CompletableFuture.completedFuture(String.valueOf(before));
        }

        @Async
        Future<String> blockAndTell(CountDownLatch started, CountDownLatch gate, BlockingQueue<String> ended) {
            started.countDown();
            try {
                gate.await();
                ended.add("done");
            } catch (InterruptedException cancelled) {
                ended.add("interrupted");
            }
            return CompletableFuture.completedFuture("done");
        }

        @Async
        String plain() {
            return "plain";
        }
    }
}
