package io.github.virtualthread.execution;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.github.virtualthread.limit.LimitSettings;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * A program of its own, for {@link CarrierOutcomeTests}: bodies that ignore interrupts keep both carriers until everybody has
 * heard of the end of his call, or the program has waited long enough.
 */
final class CarrierShortage {

    static final int CARRIERS = 2;
    private static final String SPINS = "Test.spins";

    private final TestEngine test = new TestEngine(
            LimitSettings.of("spun", CARRIERS).withMaxWait(Duration.ofMillis(500)), LimitSettings.of("held", 1));
    private final AtomicInteger spinning = new AtomicInteger();
    private volatile boolean over;

    private CarrierShortage() {}

    public static void main(String[] arguments) throws Exception {
        new CarrierShortage().run();
        System.exit(0); // whatever threads hang
    }

    private void run() throws Exception {
        CountDownLatch warned = listenToTheLog();
        test.hold("held", ChildProgram.NEVER); // parked: it needs no carrier to keep its permit
        long begin = System.nanoTime();
        TaskSpec spins = test.engine.spec(SPINS, "spun", Duration.ofMillis(300));
        CompletableFuture<@Nullable Object> timedOut = test.engine.submit(spins, this::spin);
        test.engine.submit(spins, this::spin);
        ChildProgram.until(() -> spinning.get() == CARRIERS);

        CompletableFuture<?> expired = test.submit("spun", () -> "value");
        CompletableFuture<?> expiredCaller = Caller.platform(test, "spun", () -> "value").outcome;
        TaskSpec late = test.engine.spec("Test.late", "held", null, Duration.ofMillis(300));
        CompletableFuture<?> overdue = test.engine.submit(late, () -> "value");
        CompletableFuture<?> overdueCaller =
                Late.on(Thread.ofPlatform().daemon(), () -> test.engine.call(late, () -> "value"));
        tell("deadline", overdue, begin);
        tell("deadline of a caller", overdueCaller, begin);

        CompletableFuture<?> evicted = test.submit("held", () -> "value");
        CompletableFuture<?> evictedCaller = Caller.platform(test, "held", () -> "value").outcome;
        CountDownLatch handled = new CountDownLatch(1);
        test.engine.execute(
                test.engine.spec("Test.tell", "held"), () -> "value", (task, failure) -> handled.countDown());
        ChildProgram.until(() -> test.limit("held").waiting() == 3);
        test.limits.evictWaiting("held");

        tell("eviction", evicted, begin);
        tell("eviction of a caller", evictedCaller, begin);
        tell("timeout", timedOut, begin);
        tell("end of a wait", expired, begin);
        tell("end of the wait of a caller", expiredCaller, begin);
        ChildProgram.tell("handlers of void calls not called", await(handled));
        ChildProgram.tell("warnings missed", await(warned));
        ChildProgram.tell("bodies that spin", spinning.get());
        over = true;
        ChildProgram.until(() -> spinning.get() == 0);
    }

    private Object spin() {
        spinning.incrementAndGet();
        while (!over) {
            Thread.onSpinWait();
        }
        spinning.decrementAndGet();
        return "value";
    }

    /** The thread that asks is no virtual one. */
    private static void tell(String what, CompletableFuture<?> failing, long begin) {
        boolean heard = ChildProgram.until(failing::isDone);
        ChildProgram.tell("ms until the " + what, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin));
        ChildProgram.tell("missed " + what, heard && failing.isCompletedExceptionally() ? 0 : 1);
    }

    private static long await(CountDownLatch latch) throws InterruptedException {
        boolean unused = latch.await(ChildProgram.ENOUGH.toMillis(), TimeUnit.MILLISECONDS);
        return latch.getCount();
    }

    /** Opens once the log warns of a body that does not react. */
    private static CountDownLatch listenToTheLog() {
        CountDownLatch warned = new CountDownLatch(1);
        Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        root.setLevel(Level.WARN);
        AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                String message = event.getFormattedMessage();
                if (message.contains(SPINS) && message.contains("interrupt")) {
                    warned.countDown();
                }
            }
        };
        appender.setContext(root.getLoggerContext());
        appender.start();
        root.addAppender(appender);
        return warned;
    }
}
