package io.github.virtualthread.execution;

import io.github.virtualthread.limit.LimitSettings;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/** A program of its own, for {@link LettingGoTests}: very many calls wait, and all are let go at once. */
final class LettingGo {

    /** Who lets them go. */
    enum By {
        /** The operator, as {@code DELETE} of the endpoint does. */
        EVICTION {
            @Override
            void letGo(TestEngine test) {
                ChildProgram.tell("evicted", test.limits.evictWaiting(LIMIT));
            }
        },
        MAX_WAIT {
            @Override
            void letGo(TestEngine test) {
                test.limit(LIMIT).setMaxWait(Duration.ofMillis(1));
            }
        },
        STOP {
            @Override
            void letGo(TestEngine test) {
                test.engine.stop(Duration.ZERO);
            }
        };

        abstract void letGo(TestEngine test);
    }

    private static final String LIMIT = "db";
    private static final int PERMITS = 4;
    private static final int CALLERS = 3;

    private LettingGo() {}

    public static void main(String[] arguments) {
        ChildProgram.quiet();
        By by = By.valueOf(arguments[0]);
        CompletableFuture<?>[] waiting = new CompletableFuture<?>[Integer.parseInt(arguments[1])];
        try {
            run(by, waiting);
            System.exit(0); // whatever threads hang
        } catch (Throwable failure) {
            failure.printStackTrace(System.out);
            System.exit(1);
        }
    }

    private static void run(By by, CompletableFuture<?>[] waiting) {
        TestEngine test = new TestEngine(LimitSettings.of(LIMIT, PERMITS));
        List<? extends CompletableFuture<?>> running = Stream.generate(() -> test.hold(LIMIT, ChildProgram.NEVER))
                .limit(PERMITS)
                .toList();
        for (int i = 0; i < waiting.length; i++) {
            MDC.put("request", Integer.toString(i)); // what a call captures is no longer shared with others
            waiting[i] = test.submit(LIMIT, () -> "value");
        }
        List<Caller> callers = Stream.generate(() -> Caller.platform(test, LIMIT, () -> "value"))
                .limit(CALLERS)
                .toList();
        ChildProgram.until(() -> test.limit(LIMIT).waiting() == waiting.length + CALLERS);
        ChildProgram.tell("waiting at first", test.limit(LIMIT).waiting());
        ChildProgram.tell("MB of heap at first", StressHeap.used() >> 20);

        letGo(by, test, waiting);
        ChildProgram.tell(
                "callers that hang",
                callers.stream().filter(caller -> caller.thread.isAlive()).count());
        running.forEach(each -> each.cancel(true));
        if (by != By.STOP) {
            ChildProgram.tellWhatIsLeft(test, LIMIT);
        }
        ChildProgram.tellStop(test);
    }

    private static void letGo(By by, TestEngine test, CompletableFuture<?>[] waiting) {
        long begin = System.nanoTime();
        @Nullable Throwable thrown = null;
        try {
            by.letGo(test);
        } catch (Throwable failure) {
            thrown = failure;
        }
        long answered = System.nanoTime();
        BooleanSupplier allTold = () -> ChildProgram.open(waiting) == 0;
        ChildProgram.until(allTold); // first: until then there may be no memory to report anything
        long told = System.nanoTime();
        ChildProgram.tell("ms for who asked", TimeUnit.NANOSECONDS.toMillis(answered - begin));
        ChildProgram.tell("ms until all were told", TimeUnit.NANOSECONDS.toMillis(told - begin));
        if (thrown != null) {
            thrown.printStackTrace(System.out);
        }
        ChildProgram.tell("thrown", thrown == null ? 0 : 1);
        ChildProgram.tell("not told", ChildProgram.open(waiting));
        ChildProgram.tell("MB of heap then", StressHeap.used() >> 20);
    }
}
