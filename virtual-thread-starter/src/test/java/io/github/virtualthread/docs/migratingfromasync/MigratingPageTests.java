package io.github.virtualthread.docs.migratingfromasync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.docs.Pages;
import java.io.IOException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.TaskRejectedException;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/** What migrating-from-async.md says of both annotations is so. */
@Timeout(300)
class MigratingPageTests {

    private static final String RECIPE =
            "virtual-thread-starter/rewrite/src/main/resources/META-INF/rewrite/migrate-from-async.yml";

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class))
            .withPropertyValues("virtual-thread.limits.one.permits=1", "virtual-thread.limits.one.queue-capacity=0")
            .withUserConfiguration(Pool.class)
            .withBean(Before.class)
            .withBean(After.class)
            .withBean(BeforeClass.class)
            .withBean(AfterClass.class);

    private final CountDownLatch started = new CountDownLatch(1);
    private final CountDownLatch gate = new CountDownLatch(1);

    @Test
    void theCommandNamesTheRecipeAndThePluginThatAreTried() {
        String artifact = first("</parent>\\s+<artifactId>(.+)</", "virtual-thread-starter/rewrite/pom.xml");
        String version = first("<version>(.+)</version>", "pom.xml");
        String application = Pages.text("virtual-thread-starter/rewrite/src/it/migration/pom.xml");

        assertThat(Pages.text("docs/recipe.md"))
                .contains(
                        "rewrite-maven-plugin:" + first("<rewrite-maven-plugin\\.version>(.+)</", "pom.xml") + ":run ")
                .contains("=io.github.virtualthread:" + artifact + ":" + version + " ")
                .contains("-Drewrite.activeRecipes=" + first("(?m)^name: (.+)$", RECIPE) + "\n");
        assertThat(application)
                .contains("<coordinates>io.github.virtualthread:" + artifact + ":@project.version@<")
                .contains("<recipe>" + first("(?m)^name: (.+)$", RECIPE) + "</recipe>");
    }

    private static String first(String pattern, String file) {
        Matcher found = Pattern.compile(pattern).matcher(Pages.text(file));
        assertThat(found.find()).isTrue();
        return found.group(1);
    }

    @Test
    void asyncWrapsTheExceptionOfTheMethodAndVirtualThreadDoesNot() {
        // a context each: the one thread of the pool is not back at once, and nothing may wait for it
        runner.run(context -> assertThat(failureOf(context.getBean(Before.class).fail()))
                .isExactlyInstanceOf(CompletionException.class)
                .hasCauseExactlyInstanceOf(IOException.class));
        runner.run(context -> assertThat(failureOf(context.getBean(Before.class).failLater()))
                .isExactlyInstanceOf(CompletionException.class)
                .hasCauseExactlyInstanceOf(IOException.class));
        runner.run(context -> {
            After after = context.getBean(After.class);

            assertThat(failureOf(after.fail())).isExactlyInstanceOf(IOException.class);
            assertThat(failureOf(after.failLater())).isExactlyInstanceOf(IOException.class);
        });
    }

    @Test
    void getAndJoinWrapItTheSameWay() {
        runner.run(context -> List.of(
                        context.getBean(Before.class).fail(),
                        context.getBean(After.class).fail())
                .forEach(future -> {
                    assertThatThrownBy(() -> future.get(2, TimeUnit.MINUTES))
                            .isExactlyInstanceOf(ExecutionException.class)
                            .hasCauseExactlyInstanceOf(IOException.class);
                    assertThatThrownBy(future::join)
                            .isExactlyInstanceOf(CompletionException.class)
                            .hasCauseExactlyInstanceOf(IOException.class);
                }));
    }

    private static Throwable failureOf(CompletableFuture<String> future) throws InterruptedException {
        BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
        future.whenComplete((value, failure) -> failures.add(failure));
        return failures.poll(2, TimeUnit.MINUTES);
    }

    @Test
    void asyncRejectsAtTheCallAndVirtualThreadThroughTheFuture() {
        runner.run(context -> {
            context.getBean(Before.class).block(gate);
            assertThatThrownBy(() -> context.getBean(Before.class).block(gate))
                    .isInstanceOf(TaskRejectedException.class);

            context.getBean(After.class).block(gate);
            assertThat(failureOf(context.getBean(After.class).block(gate))).isInstanceOf(TaskRejectedException.class);
            gate.countDown();
        });
    }

    @Test
    void aRejectedVoidMethodThrowsUnderAsyncAndTellsTheHandlerUnderVirtualThread() {
        Handler handler = new Handler();
        runner.withBean(Handler.class, () -> handler).run(context -> {
            context.getBean(Before.class).block(gate);
            assertThatThrownBy(() -> context.getBean(Before.class).send()).isInstanceOf(TaskRejectedException.class);

            context.getBean(After.class).block(gate);
            context.getBean(After.class).send();
            assertThat(handler.failures.poll(2, TimeUnit.MINUTES)).isInstanceOf(TaskRejectedException.class);
            gate.countDown();
        });
    }

    @Test
    void cancelInterruptsOnlyTheBodyOfVirtualThread() {
        runner.run(context -> {
            CountDownLatch startedToo = new CountDownLatch(1);
            BlockingQueue<String> ended = new LinkedBlockingQueue<>();
            CompletableFuture<String> before = context.getBean(Before.class).blockAndTell(started, gate, ended);
            CompletableFuture<String> after = context.getBean(After.class).blockAndTell(startedToo, gate, ended);
            started.await();
            startedToo.await();

            before.cancel(true);
            after.cancel(true);

            assertThat(ended.poll(2, TimeUnit.MINUTES)).isEqualTo("after interrupted");
            gate.countDown();
            assertThat(ended.poll(2, TimeUnit.MINUTES)).isEqualTo("before done");
        });
    }

    @Test
    void anAnnotatedClassCoversAllMethodsWithAsyncAndPublicOnesWithVirtualThread() {
        runner.run(context -> {
            assertThat(context.getBean(BeforeClass.class).packagePrivate().get(2, TimeUnit.MINUTES))
                    .isNotSameAs(Thread.currentThread());
            assertThat(context.getBean(AfterClass.class).packagePrivate().get(2, TimeUnit.MINUTES))
                    .isSameAs(Thread.currentThread());
            assertThat(context.getBean(AfterClass.class).open().get(2, TimeUnit.MINUTES))
                    .isNotSameAs(Thread.currentThread());
        });
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync(proxyTargetClass = true)
    static class Pool {

        @Bean
        ThreadPoolTaskExecutor applicationTaskExecutor() {
            ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
            executor.setCorePoolSize(1);
            executor.setMaxPoolSize(1);
            executor.setQueueCapacity(0);
            executor.setDaemon(true);
            return executor;
        }
    }

    static class Handler implements AsyncUncaughtExceptionHandler {

        private final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();

        @Override
        public void handleUncaughtException(Throwable failure, Method method, Object... arguments) {
            failures.add(failure);
        }
    }

    static class Before {

        @Async
        public CompletableFuture<String> fail() throws IOException {
            throw new IOException("before");
        }

        @Async
        public CompletableFuture<String> failLater() {
            return CompletableFuture.failedFuture(new IOException("before"));
        }

        @Async
        public CompletableFuture<String> block(CountDownLatch gate) throws InterruptedException {
            gate.await();
            return CompletableFuture.completedFuture("done");
        }

        @Async
        public void send() {}

        @Async
        public CompletableFuture<String> blockAndTell(
                CountDownLatch started, CountDownLatch gate, BlockingQueue<String> ended) {
            started.countDown();
            ended.add(await(gate) ? "before done" : "before interrupted");
            return CompletableFuture.completedFuture("done");
        }
    }

    static class After {

        @VirtualThread
        public CompletableFuture<String> fail() throws IOException {
            throw new IOException("after");
        }

        @VirtualThread
        public CompletableFuture<String> failLater() {
            return CompletableFuture.failedFuture(new IOException("after"));
        }

        @VirtualThread("one")
        public CompletableFuture<String> block(CountDownLatch gate) throws InterruptedException {
            gate.await();
            return CompletableFuture.completedFuture("done");
        }

        @VirtualThread("one")
        public void send() {}

        @VirtualThread
        public CompletableFuture<String> blockAndTell(
                CountDownLatch started, CountDownLatch gate, BlockingQueue<String> ended) {
            started.countDown();
            ended.add(await(gate) ? "after done" : "after interrupted");
            return CompletableFuture.completedFuture("done");
        }
    }

    @Async
    static class BeforeClass {

        Future<Thread> packagePrivate() {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }
    }

    @VirtualThread
    static class AfterClass {

        Future<Thread> packagePrivate() {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }

        public Future<Thread> open() {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }
    }

    private static boolean await(CountDownLatch gate) {
        try {
            gate.await();
            return true;
        } catch (InterruptedException cancelled) {
            return false;
        }
    }
}
