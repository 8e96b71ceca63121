package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.TaskLimit;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** What programs have in common that run short of something: how they wait, report, and look at what is left. */
final class ChildProgram {

    /** How long a program waits for each thing that has to happen; to be less where failures are wanted soon. */
    static final String PATIENCE = "patience.seconds";

    static final Duration ENOUGH = Duration.ofSeconds(Long.getLong(PATIENCE, 60));

    /** For bodies that end only by an interrupt. */
    static final CountDownLatch NEVER = new CountDownLatch(1);

    /** For another call to wait as long as another has to. */
    private static final Duration SHORT = Duration.ofMillis(50);

    private ChildProgram() {}

    /** Reports a figure. */
    static void tell(String name, long figure) {
        System.out.println(name + " = " + figure);
    }

    /**
     * The log says what is wrong, and not more: a heap that is full is no place for it. Any application has linked a lambda or a
     * string that is put together long before, which initializes a class of the JDK that stays broken where that finds no memory.
     */
    static void quiet() {
        MethodHandle unused = MethodHandles.zero(int.class);
        ((Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME)).setLevel(Level.ERROR);
    }

    /** Whether it came to that in time. */
    static boolean until(BooleanSupplier condition) {
        return until(condition, ENOUGH);
    }

    static boolean until(BooleanSupplier condition, Duration longest) {
        long begin = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - begin > longest.toNanos()) {
                return false;
            }
            LockSupport.parkNanos(1_000_000);
        }
        return true;
    }

    /** What is left by callers, and after a stop. */
    static void tellWhatIsLeft(TestEngine test, ShortageCallers callers) {
        tellWhatIsLeft(test, ShortageCalls.LIMIT);
        tell("open futures", callers.open());
        tellStop(test);
        tell("open futures after the stop", callers.open());
        tell("callers that hang", callers.hanging());
    }

    /** How many are not complete. */
    static long open(@Nullable CompletableFuture<?>[] futures) {
        long open = 0;
        for (CompletableFuture<?> future : futures) {
            open += future == null || future.isDone() ? 0 : 1;
        }
        return open;
    }

    /** Waits until everything is as if nothing had happened, and tries what may be broken for good. */
    static void tellWhatIsLeft(TestEngine test, String name) {
        TaskLimit limit = test.limit(name);
        long begin = System.nanoTime();
        boolean well =
                until(() -> test.engine.isIdle() && limit.waiting() == 0 && limit.available() == limit.permits());
        tell("ms until all was back", TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin));
        tell("permits lost", limit.permits() - limit.available());
        tell("still waiting", limit.waiting());
        tell("idle", test.engine.isIdle() ? 1 : 0);
        Duration patience = well ? ENOUGH : Duration.ofSeconds(2);
        tell("lost timeouts", loses(timedOut(test), TimeoutException.class, patience));

        CountDownLatch running = new CountDownLatch(limit.permits());
        CountDownLatch release = new CountDownLatch(1);
        for (int i = 0; i < limit.permits(); i++) {
            test.submit(name, () -> {
                running.countDown();
                release.await();
                return null;
            });
        }
        until(() -> running.getCount() == 0, patience);
        tell("permits not to be had", running.getCount());
        Duration maxWait = limit.maxWait();
        if (maxWait == null) {
            maxWait = SHORT;
            limit.setMaxWait(maxWait);
        }
        CompletableFuture<?> late = test.submit(name, () -> "ran");
        tell("lost ends of waits", loses(late, LimitExceededException.class, patience.plus(maxWait)));
        CompletableFuture<?> overdue =
                test.engine.submit(test.engine.spec("Test.late", name, null, SHORT), () -> "ran");
        tell("lost deadlines", loses(overdue, LimitExceededException.class, patience));
        release.countDown();
        until(test.engine::isIdle, patience);
    }

    private static CompletableFuture<@Nullable Object> timedOut(TestEngine test) {
        return test.engine.submit(test.engine.spec("Test.slow", null, SHORT), () -> {
            NEVER.await();
            return null;
        });
    }

    private static long loses(CompletableFuture<?> future, Class<? extends Throwable> failure, Duration patience) {
        try {
            future.get(patience.toMillis(), TimeUnit.MILLISECONDS);
            return 1;
        } catch (ExecutionException failed) {
            return failure.isInstance(failed.getCause()) ? 0 : 1;
        } catch (TimeoutException | InterruptedException lost) {
            return 1;
        }
    }

    /** Stops, giving calls no time; all that is left there is what the engine has lost. */
    static void tellStop(TestEngine test) {
        long begin = System.nanoTime();
        int failed = 0;
        try {
            test.engine.stop(Duration.ofSeconds(1));
        } catch (Throwable thrown) {
            thrown.printStackTrace(System.out);
            failed = 1;
        }
        tell("stops that failed", failed);
        tell("ms of the stop", TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin));
        tell("idle after the stop", test.engine.isIdle() ? 1 : 0);
    }

    /**
     * Nothing is lost of the calls that callers have made. Where memory is short, the JVM may take off the stack what tells a call
     * that it cannot be started: then the stop tells it.
     */
    static void assertNothingLost(ChildJvm.Report report) {
        Map<String, Long> expected = new HashMap<>(NOTHING_LOST);
        expected.remove("idle");
        expected.put("open futures after the stop", 0L);
        expected.put("callers that hang", 0L);
        assertFigures(report, expected);
    }

    /**
     * Where memory is short, the JVM may take a method of ours off a stack without running its handlers: seen in about one program of
     * thirty. What we lose ourselves is lost in each of three.
     */
    static void assertOnceOfThree(
            ChildJvm.Report first, Callable<ChildJvm.Report> again, Consumer<ChildJvm.Report> assertion)
            throws Exception {
        ChildJvm.Report report = first;
        for (int left = 2; ; left--) {
            try {
                assertion.accept(report);
                return;
            } catch (AssertionError lost) {
                if (left == 0) {
                    throw lost;
                }
                System.out.println("Once more: " + lost.getMessage());
                report = again.call();
            }
        }
    }

    /** The program has ended, and these are among its figures. */
    static void assertFigures(ChildJvm.Report report, Map<String, Long> expected) {
        assertThat(report.figures()).as(report.output()).containsAllEntriesOf(expected);
        assertThat(report.exit()).as(report.output()).isZero();
    }

    /** Nothing is lost for good. */
    static final Map<String, Long> NOTHING_LOST = Map.of(
            "permits lost", 0L,
            "still waiting", 0L,
            "idle", 1L,
            "lost timeouts", 0L,
            "permits not to be had", 0L,
            "lost ends of waits", 0L,
            "lost deadlines", 0L,
            "stops that failed", 0L,
            "idle after the stop", 1L);
}
