package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.config.EnableVirtual;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.observation.PinWatch;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextRefreshedEvent;

/** A class initialiser that blocks pins its thread on every JDK. Each can be used once. */
@Timeout(300)
@Tag("slow")
@Tag("jdk")
class PinningTests {

    private final Pins pins = new Pins();
    private final ApplicationContextRunner off = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class, VirtualThreadPinningAutoConfiguration.class))
            .withBean(Pins.class, () -> pins)
            .withBean(Shop.class)
            .withPropertyValues("virtual-thread.limits.db.permits=5");
    private final ApplicationContextRunner on =
            off.withPropertyValues("virtual-thread.pinning.enabled=true", "virtual-thread.pinning.threshold=1ns");

    @Test
    void aPinIsToldUnderTheNameOfItsMethodAndLoggedWithItsStack() {
        ListAppender<ILoggingEvent> log = log();
        on.run(context -> {
            assertThat(context.getBean(Shop.class).price()).succeedsWithin(Duration.ofMinutes(2));

            assertThat(pins.next()).startsWith("Shop.price ");
        });
        assertThat(log.list).anySatisfy(event -> {
            assertThat(event.getLevel()).isEqualTo(Level.WARN);
            assertThat(event.getFormattedMessage())
                    .startsWith("Shop.price kept its carrier busy for ")
                    .contains("while it was blocked, at " + PinningTests.class.getName() + ".block, line ");
            assertThat(event.getThrowableProxy().getStackTraceElementProxyArray())
                    .anyMatch(frame -> frame.toString().contains("BlocksFirst.<clinit>"));
        });
    }

    @Test
    void aPlaceIsLoggedOnceAMinuteAndEveryPinIsTold() {
        ListAppender<ILoggingEvent> log = log();
        on.run(context -> {
            VirtualThreads threads = context.getBean(VirtualThreads.class);
            assertThat(threads.submit("db", () -> BlocksSecond.VALUE)).succeedsWithin(Duration.ofMinutes(2));
            assertThat(threads.submit("db", () -> BlocksThird.VALUE)).succeedsWithin(Duration.ofMinutes(2));

            assertThat(pins.next()).startsWith("PinningTests.lambda ");
            assertThat(pins.next()).startsWith("PinningTests.lambda ");
        });
        assertThat(log.list) // and perhaps of a pin that is none of this test's
                .filteredOn(
                        event -> event.getFormattedMessage().contains(PinningTests.class.getName() + ".block, line "))
                .hasSize(1);
    }

    @Test
    void aPinOfACallOnItsCallersThreadIsToldUnderTheNameOfTheCall() {
        on.run(context -> {
            CountDownLatch told = new CountDownLatch(1);
            pins.told = told;
            VirtualThreads threads = context.getBean(VirtualThreads.class);

            Thread.ofVirtual().name("tomcat-handler-1").start(() -> {
                try {
                    threads.call("db", () -> {
                        int value = BlocksFourth.VALUE;
                        told.await();
                        return value;
                    });
                } catch (Exception failure) {
                    throw new AssertionError(failure);
                }
            });

            assertThat(pins.next()).startsWith("PinningTests.lambda ");
        });
    }

    @Test
    void nothingIsRecordedUnlessAskedForOrWithoutTheFlightRecorder() {
        off.run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(PinWatch.class));
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        VirtualThreadAutoConfiguration.class, VirtualThreadPinningAutoConfiguration.class))
                .withPropertyValues("virtual-thread.pinning.enabled=true")
                .withClassLoader(new FilteredClassLoader("jdk.jfr"))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(PinWatch.class));
    }

    @Test
    void anApplicationWithItsOwnEngineAloneStartsWithoutTheWatch() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(VirtualThreadPinningAutoConfiguration.class))
                .withPropertyValues("virtual-thread.pinning.enabled=true")
                .withUserConfiguration(OwnEngine.class)
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(PinWatch.class));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual
    static class OwnEngine {}

    @Test
    void offIsAnotherWordForFalse() {
        off.withPropertyValues("virtual-thread.pinning.enabled=off")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(PinWatch.class));
    }

    @Test
    void aPinIsToldOnceThoughAChildContextAsksForItToo() {
        on.run(parent -> on.withParent(parent)
                .run(child -> assertThat(child.getBeanFactory().getBeanNamesForType(PinWatch.class))
                        .isEmpty()));
    }

    @Test
    void theRecordingEndsThoughTheContextFailsAfterItsStart() {
        AtomicReference<PinWatch> watch = new AtomicReference<>();
        ApplicationListener<ContextRefreshedEvent> broken = event -> {
            watch.set(event.getApplicationContext().getBean(PinWatch.class));
            throw new IllegalStateException("broken listener");
        };

        on.withInitializer(context -> context.addApplicationListener(broken))
                .run(context -> assertThat(context).hasFailed());

        assertThat(watch.get().isRunning()).isFalse();
    }

    @Test
    void theRecordingEndsWithTheContext() {
        on.run(context -> {
            PinWatch watch = context.getBean(PinWatch.class);
            assertThat(watch.isRunning()).isTrue();

            context.getSourceApplicationContext().stop();
            assertThat(watch.isRunning()).isFalse();

            context.getSourceApplicationContext().start();
            assertThat(watch.isRunning()).isTrue();
        });
    }

    private static ListAppender<ILoggingEvent> log() {
        Logger logger = (Logger) LoggerFactory.getLogger(PinWatch.class);
        logger.detachAndStopAllAppenders();
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        logger.addAppender(log);
        return log;
    }

    /** Parks for a moment; what is measured is that it parks. */
    private static int block() {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        return 1;
    }

    static class Shop {

        @VirtualThread
        CompletableFuture<Integer> price() {
            return CompletableFuture.completedFuture(BlocksFirst.VALUE);
        }
    }

    static class BlocksFirst {
        static final int VALUE = block();
    }

    static class BlocksSecond {
        static final int VALUE = block();
    }

    static class BlocksThird {
        static final int VALUE = block();
    }

    static class BlocksFourth {
        static final int VALUE = block();
    }

    static final class Pins implements TaskListener {

        private final BlockingQueue<String> pins = new LinkedBlockingQueue<>();
        private volatile CountDownLatch told = new CountDownLatch(1);

        @Override
        public void pinned(String task, Duration time) {
            if (time.isPositive()
                    && List.of("Shop.price", "PinningTests.lambda").contains(task)) {
                pins.add(task + " " + time.toMillis() + " ms");
                told.countDown();
            }
        }

        String next() throws InterruptedException {
            return String.valueOf(pins.poll(2, TimeUnit.MINUTES));
        }
    }
}
