package com.acme.shop;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.execution.VirtualThreads;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.inmemory.InMemoryLockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** Each starts an application of its own, whose jobs run while the test looks at them. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class ScheduledTests {

    private static final String ONCE = "3600000";

    @Test
    void aJobRunsOnAVirtualThreadOfItsName() throws Exception {
        try (ConfigurableApplicationContext shop = start(Report.class)) {
            Thread thread = shop.getBean(Runs.class).threads.poll(120, SECONDS);

            assertThat(thread.isVirtual()).isTrue();
            assertThat(thread.getName()).startsWith("vt-Report.print-");
        }
    }

    @Test
    void whatAJobThrowsGoesToTheHandler() throws Exception {
        try (ConfigurableApplicationContext shop = start(Broken.class)) {
            assertThat(shop.getBean(Runs.class).failures.poll(120, SECONDS)).hasMessage("no paper");
        }
    }

    /** The scheduler looks at no future. */
    @Test
    void theFailureOfAFutureThatAJobReturnsIsSeenByNobody(CapturedOutput output) throws Exception {
        try (ConfigurableApplicationContext shop = start(Unheard.class)) {
            Runs runs = shop.getBean(Runs.class);

            assertThat(runs.threads.poll(120, SECONDS)).isNotNull();
            assertThat(shop.getBean(VirtualThreads.class).awaitIdle(Duration.ofMinutes(2)))
                    .isTrue();
            assertThat(runs.failures).isEmpty();
        }
        assertThat(output).doesNotContain("no paper");
    }

    @Test
    void runsWithAFixedDelayOverlapAndTheStartWarnsOfIt(CapturedOutput output) throws Exception {
        try (ConfigurableApplicationContext shop = start(Cleanup.class)) {
            Runs runs = shop.getBean(Runs.class);

            assertThat(runs.threads.poll(120, SECONDS)).isNotNull();
            assertThat(runs.threads.poll(120, SECONDS))
                    .as("a second run beside the first")
                    .isNotNull();
            runs.finish.countDown();
        }
        assertThat(output).contains("Cleanup.clean has @VirtualThread and @Scheduled(fixedDelay)");
    }

    @Test
    void aLockOfShedLockIsHeldUntilTheBodyHasEndedAndTheStartDoesNotWarn(CapturedOutput output) throws Exception {
        try (ConfigurableApplicationContext shop = start(Locked.class)) {
            Runs runs = shop.getBean(Runs.class);

            assertThat(runs.threads.poll(120, SECONDS).isVirtual()).isTrue();
            assertThat(shop.getBean(Locks.class).refused.await(120, SECONDS)).isTrue();
            assertThat(runs.threads).isEmpty();
            runs.finish.countDown();
            assertThat(runs.threads.poll(120, SECONDS)).as("the next run").isNotNull();
        }
        assertThat(output).doesNotContain("@Scheduled(fixedDelay)");
    }

    @Test
    void underALimitOfOnePermitAndNoQueueARunIsRefusedWhileTheLastOneGoesOn() throws Exception {
        try (ConfigurableApplicationContext shop = start(OneByOne.class)) {
            Runs runs = shop.getBean(Runs.class);

            assertThat(runs.threads.poll(120, SECONDS)).isNotNull();
            assertThat(runs.failures.poll(120, SECONDS)).hasMessageContaining("QUEUE_FULL");
            assertThat(runs.threads).isEmpty();
            runs.finish.countDown();
            assertThat(runs.threads.poll(120, SECONDS)).as("the next run").isNotNull();
        }
    }

    private static ConfigurableApplicationContext start(Class<?> job) {
        SpringApplication application = new SpringApplication(ShopApplication.class, Jobs.class, Runs.class, job);
        application.setWebApplicationType(WebApplicationType.NONE);
        return application.run();
    }

    @EnableScheduling
    static class Jobs {}

    static class Runs {

        final BlockingQueue<Thread> threads = new LinkedBlockingQueue<>();
        final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
        final CountDownLatch finish = new CountDownLatch(1);

        void begin() {
            threads.add(Thread.currentThread());
        }
    }

    static class Report {

        private final Runs runs;

        Report(Runs runs) {
            this.runs = runs;
        }

        @VirtualThread
        @Scheduled(fixedRateString = ONCE)
        public void print() {
            runs.begin();
        }
    }

    static class Broken implements AsyncUncaughtExceptionHandler {

        private final Runs runs;

        Broken(Runs runs) {
            this.runs = runs;
        }

        @VirtualThread
        @Scheduled(fixedRateString = ONCE)
        public void print() {
            throw new IllegalStateException("no paper");
        }

        @Override
        public void handleUncaughtException(Throwable failure, Method method, Object... arguments) {
            runs.failures.add(failure);
        }
    }

    static class Unheard implements AsyncUncaughtExceptionHandler {

        private final Runs runs;

        Unheard(Runs runs) {
            this.runs = runs;
        }

        @VirtualThread
        @Scheduled(fixedRateString = ONCE)
        public CompletableFuture<Void> print() {
            runs.begin();
            throw new IllegalStateException("no paper");
        }

        @Override
        public void handleUncaughtException(Throwable failure, Method method, Object... arguments) {
            runs.failures.add(failure);
        }
    }

    static class Cleanup {

        private final Runs runs;

        Cleanup(Runs runs) {
            this.runs = runs;
        }

        @VirtualThread
        @Scheduled(fixedDelay = 1)
        public void clean() throws InterruptedException {
            runs.begin();
            runs.finish.await();
        }
    }

    @EnableSchedulerLock(defaultLockAtMostFor = "PT10M")
    static class Locks implements LockProvider {

        final CountDownLatch refused = new CountDownLatch(1);
        private final LockProvider locks = new InMemoryLockProvider();

        @Override
        public Optional<SimpleLock> lock(LockConfiguration asked) {
            Optional<SimpleLock> lock = locks.lock(asked);
            if (lock.isEmpty()) {
                refused.countDown();
            }
            return lock;
        }
    }

    @Import(Locks.class)
    static class Locked {

        private final Runs runs;

        Locked(Runs runs) {
            this.runs = runs;
        }

        @VirtualThread
        @Scheduled(fixedDelay = 1)
        @SchedulerLock(name = "clean")
        public void clean() throws InterruptedException {
            runs.begin();
            runs.finish.await();
        }
    }

    static class OneByOne implements AsyncUncaughtExceptionHandler {

        private final Runs runs;

        OneByOne(Runs runs) {
            this.runs = runs;
        }

        @VirtualThread("full")
        @Scheduled(fixedRate = 1)
        public void clean() throws InterruptedException {
            runs.begin();
            runs.finish.await();
        }

        @Override
        public void handleUncaughtException(Throwable failure, Method method, Object... arguments) {
            runs.failures.add(failure);
        }
    }
}
