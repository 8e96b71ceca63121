package io.github.virtualthread.autoconfigure;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.TaskLimits;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Whatever is broken around them, calls end for their callers as they would without, and no permit is lost. */
@Timeout(300)
@Tag("jdk")
class FaultInjectionTests {

    /** As ThreadDeath was: an error that no code expects. */
    private static final class Doom extends Error {}

    private static final IOException BROKEN = new IOException("body");
    private static final Doom DOOM = new Doom();

    private final BrokenLog brokenLog = new BrokenLog();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class,
                    VirtualThreadMetricsAutoConfiguration.class,
                    VirtualThreadObservationAutoConfiguration.class))
            .withPropertyValues(
                    "virtual-thread.limits.db.permits=1",
                    "virtual-thread.limits.full.permits=1",
                    "virtual-thread.limits.full.queue-capacity=0")
            .withBean(Service.class);

    static Stream<Arguments> faults() {
        return broken(EnumSet.complementOf(EnumSet.copyOf(Fault.FATAL)));
    }

    static Stream<Arguments> fatalFaults() {
        return broken(Fault.FATAL);
    }

    private static Stream<Arguments> broken(Set<Fault> faults) {
        List<Supplier<Throwable>> failures = List.of(() -> new IllegalStateException("injected"), Doom::new);
        return faults.stream()
                .flatMap(fault -> failures.stream().map(failure -> Arguments.of(fault, new Breaker(failure))));
    }

    @BeforeEach
    void add() {
        ((LoggerContext) LoggerFactory.getILoggerFactory()).addTurboFilter(brokenLog);
    }

    @AfterEach
    void mend() {
        Thread.interrupted();
        ((LoggerContext) LoggerFactory.getILoggerFactory()).getTurboFilterList().remove(brokenLog);
        Fault.mend();
    }

    @ParameterizedTest(name = "{0}, {index}")
    @MethodSource("faults")
    void callersSeeNothingOfAFaultAndAllPermitsAreBack(Fault fault, Breaker breaker) {
        fault.in(runner, breaker).run(context -> {
            callsEndAsEver(context);
            assertThat(breaker.strikes()).as("strikes of " + fault).isPositive();
        });
    }

    @ParameterizedTest(name = "{0}, {index}")
    @MethodSource("fatalFaults")
    void callersGetAFaultThatIsFatalAndAllPermitsAreBack(Fault fault, Breaker breaker) {
        fault.in(runner, breaker).run(context -> {
            brokenLog.start();
            Service service = context.getBean(Service.class);
            VirtualThreads threads = context.getBean(VirtualThreads.class);

            assertThat(failure(service.value())).isSameAs(breaker.last());
            assertThat(failure(threads.submit("db", () -> "value"))).isSameAs(breaker.last());
            service.silent();
            assertThat(service.valueHere()).isEqualTo("value");

            assertThat(threads.awaitIdle(Duration.ofMinutes(2))).isTrue();
            assertThat(context.getBean(TaskLimits.class).get("db").available()).isEqualTo(1);
        });
    }

    /** Where a fault can only be logged, and the log fails too, there is nobody left to tell: calls end all the same. */
    @ParameterizedTest(name = "{0}, {index}")
    @MethodSource("faults")
    void theLogMayFailAsWell(Fault fault, Breaker breaker) {
        fault.in(runner, breaker).run(context -> {
            brokenLog.start();
            callsEndAsEver(context);
        });
    }

    @Test
    void nothingIsBrokenWithoutAFault() {
        runner.run(FaultInjectionTests::callsEndAsEver);
    }

    private static void callsEndAsEver(AssertableApplicationContext context) throws Exception {
        assertThat(context).hasNotFailed();
        Service service = context.getBean(Service.class);
        VirtualThreads threads = context.getBean(VirtualThreads.class);

        assertThat(service.value()).succeedsWithin(120, SECONDS).isEqualTo("value");
        assertThat(service.valueHere()).isEqualTo("value");
        assertThat(threads.<String>submit("db", () -> "value").get(120, SECONDS))
                .isEqualTo("value");
        assertThat(threads.<String>call("db", () -> "value")).isEqualTo("value");
        service.silent();

        assertThat(failure(service.fails())).isSameAs(BROKEN);
        assertThat(failure(service.overflows())).isInstanceOf(StackOverflowError.class);
        assertThat(failure(service.dies())).isSameAs(DOOM);
        assertThat(failure(service.takesTooLong())).isInstanceOf(TimeoutException.class);
        assertThatThrownBy(service::diesHere).isSameAs(DOOM);
        service.silentlyFails();
        service.silentlyDies();

        cancels(service);
        rejects(service);
        aFlagOfTheCallerStaysItsOwn(service);

        assertThat(threads.awaitIdle(Duration.ofMinutes(2))).isTrue();
        TaskLimits limits = context.getBean(TaskLimits.class);
        for (String name : limits.names()) {
            assertThat(limits.get(name).available()).as("permits of " + name).isEqualTo(1);
            assertThat(limits.get(name).waiting()).as("waiting for " + name).isZero();
        }
    }

    /** One that runs, and one that waits for its permit. */
    private static void cancels(Service service) throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        CompletableFuture<String> first = service.waits(running);
        assertThat(running.await(120, SECONDS)).isTrue();
        CompletableFuture<String> second = service.waits(new CountDownLatch(1));

        second.cancel(true);
        first.cancel(true);

        assertThat(failure(first)).isInstanceOf(CancellationException.class);
        assertThat(failure(second)).isInstanceOf(CancellationException.class);
        assertThat(service.value()).succeedsWithin(120, SECONDS).isEqualTo("value");
    }

    private static void rejects(Service service) throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        CompletableFuture<String> held = service.fills(running);
        assertThat(running.await(120, SECONDS)).isTrue();

        assertThat(failure(service.fills(running))).isInstanceOf(LimitExceededException.class);

        held.cancel(true);
        assertThat(failure(held)).isInstanceOf(CancellationException.class);
    }

    private static void aFlagOfTheCallerStaysItsOwn(Service service) {
        Thread.currentThread().interrupt();

        assertThat(service.interrupted().join()).isEqualTo("false");
        assertThat(service.valueHere()).isEqualTo("value"); // the permit is free: with the flag set nobody waits

        assertThat(Thread.interrupted()).isTrue();
    }

    private static Throwable failure(CompletableFuture<?> call) throws Exception {
        return call.handle((value, failure) -> failure).get(120, SECONDS);
    }

    /** Logback contains exceptions of appenders; those of filters, and errors, reach whoever logs. */
    private static final class BrokenLog extends TurboFilter {

        @Override
        public FilterReply decide(
                Marker marker, Logger logger, Level level, String format, Object[] arguments, Throwable failure) {
            if (isStarted()
                    && level.isGreaterOrEqual(Level.WARN)
                    && logger.getName().startsWith("io.github.virtualthread")) {
                throw new Doom();
            }
            return FilterReply.NEUTRAL;
        }
    }

    static class Service {

        @VirtualThread("db")
        public CompletableFuture<String> value() {
            return CompletableFuture.completedFuture("value");
        }

        @Limited("db")
        public String valueHere() {
            return "value";
        }

        @VirtualThread("db")
        public void silent() {}

        @VirtualThread("db")
        public CompletableFuture<String> fails() throws IOException {
            throw BROKEN;
        }

        @VirtualThread("db")
        public CompletableFuture<String> overflows() {
            return deeper(0) > 0 ? value() : value();
        }

        @SuppressWarnings("InfiniteRecursion")
        private int deeper(int depth) {
            return deeper(depth + 1) + 1;
        }

        @VirtualThread("db")
        public CompletableFuture<String> dies() {
            throw DOOM;
        }

        @Limited("db")
        public void diesHere() {
            throw DOOM;
        }

        @VirtualThread("db")
        public void silentlyFails() throws IOException {
            throw BROKEN;
        }

        @VirtualThread("db")
        public void silentlyDies() {
            throw DOOM;
        }

        @VirtualThread(limit = "db", timeout = "1ms")
        public CompletableFuture<String> takesTooLong() throws InterruptedException {
            return waits(new CountDownLatch(1));
        }

        @VirtualThread("db")
        public CompletableFuture<String> waits(CountDownLatch running) throws InterruptedException {
            running.countDown();
            new CountDownLatch(1).await();
            return CompletableFuture.completedFuture("never");
        }

        @VirtualThread("full")
        public CompletableFuture<String> fills(CountDownLatch running) throws InterruptedException {
            return waits(running);
        }

        @VirtualThread("db")
        public CompletableFuture<String> interrupted() {
            return CompletableFuture.completedFuture(
                    Boolean.toString(Thread.currentThread().isInterrupted()));
        }
    }
}
