package io.github.virtualthread.execution;

import io.github.virtualthread.limit.LimitSettings;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A program of its own, for {@link BurstTests}: callers make more calls than there is memory for, and more than can run. */
final class Burst implements TaskListener {

    private static final String LIMIT = "db";
    private static final int CALLERS = 3;
    private static final String HANGS = "Test.hangs";

    private final AtomicLong made = new AtomicLong();
    private final AtomicLong told = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();
    private final AtomicLong threw = new AtomicLong();
    private final BiConsumer<@Nullable Object, @Nullable Throwable> count = (value, failure) -> {
        told.incrementAndGet();
        if (failure != null) {
            refused.incrementAndGet();
        }
    };
    private final CountDownLatch watched = new CountDownLatch(1);
    private final TestEngine test =
            new TestEngine(this, LimitSettings.of(LIMIT, 2).withMaxWait(Duration.ofSeconds(2)));
    private final TaskSpec spec = test.engine.spec("Test.task", LIMIT);
    private volatile byte @Nullable [] reserve = new byte[8 << 20];
    private volatile boolean over;

    private Burst() {}

    public static void main(String[] arguments) throws Exception {
        ChildProgram.quiet();
        try {
            new Burst().run(Long.parseLong(arguments[0]));
            System.exit(0); // whatever threads hang
        } catch (Throwable failure) {
            failure.printStackTrace(System.out);
            System.exit(1);
        }
    }

    private void run(long seconds) throws Exception {
        CallWatch watch = new CallWatch(
                test.engine, test.limits, Duration.ofMinutes(1), Duration.ofSeconds(1), "vt-", Duration.ofMillis(50));
        watch.start();
        warmUp();
        List<Thread> callers = Stream.generate(
                        () -> Thread.ofPlatform().daemon().start(this::makeCalls))
                .limit(CALLERS)
                .toList();
        BooleanSupplier ended = () -> test.engine.isIdle() && told.get() == made.get();
        ChildProgram.until(() -> false, Duration.ofSeconds(seconds));
        over = true;
        int waiting = test.limit(LIMIT).waiting();
        ChildProgram.until(ended);
        reserve = null; // to report where memory has not come back
        ChildProgram.tell("waiting when the burst ended", waiting);
        ChildProgram.tell("calls made", made.get());
        ChildProgram.tell("calls rejected or failed", refused.get());
        ChildProgram.tell("errors thrown to callers", threw.get());
        ChildProgram.tell(
                "callers that hang", callers.stream().filter(Thread::isAlive).count());
        ChildProgram.tell("futures not told", made.get() - told.get());
        ChildProgram.tellWhatIsLeft(test, LIMIT);
        test.engine.submit(test.engine.spec(HANGS, null), () -> {
            ChildProgram.NEVER.await();
            return null;
        });
        ChildProgram.until(() -> watched.getCount() == 0);
        ChildProgram.tell("stuck calls not seen", watched.getCount());
        ChildProgram.tellStop(test);
        ChildProgram.tell("futures not told after the stop", made.get() - told.get());
    }

    /** Classes that are initialized while there is no memory stay broken, of whomever they are. */
    private void warmUp() {
        test.engine.start();
        for (int i = 0; i < 1_000; i++) {
            makeCall();
        }
        test.limits.evictWaiting(LIMIT);
        ChildProgram.until(test.engine::isIdle);
    }

    private void makeCalls() {
        while (!over) {
            try {
                makeCall();
            } catch (Throwable shortage) {
                threw.incrementAndGet();
            }
        }
    }

    /** Counted once its future tells of its end: nothing is held but the call itself. */
    private void makeCall() {
        byte[] argument = new byte[2_000];
        test.engine
                .submit(spec, () -> {
                    LockSupport.parkNanos(50_000_000);
                    return argument[0];
                })
                .whenComplete(count);
        made.incrementAndGet();
    }

    @Override
    public void stuck(TaskCall call) {
        if (call.spec().name().equals(HANGS)) {
            watched.countDown();
        }
    }
}
