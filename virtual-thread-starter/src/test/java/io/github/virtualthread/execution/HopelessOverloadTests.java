package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.CallTimeoutException;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TestLease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * At three times the load that 20 permits can take, with deadlines of 2 s, nearly all of the capacity is done in time if hopeless calls
 * are rejected. A machine that is too busy to do the work in its time may try again.
 */
@Timeout(600)
@Tag("slow")
@Tag("one-jdk")
class HopelessOverloadTests {

    private static final int PERMITS = 20;
    private static final long RUN = TimeUnit.MILLISECONDS.toNanos(100); // on average
    private static final Duration DEADLINE = Duration.ofSeconds(2);
    private static final long STEP = TimeUnit.MILLISECONDS.toNanos(20); // after that a body notices that it is faster
    private static final int WARM = 2; // seconds
    private static final int TRIES = 4;

    private static final LimitSettings DB = LimitSettings.of("db", PERMITS).withRejectHopeless(true);

    @RegisterExtension
    private final TestEngine test = new TestEngine(
            DB,
            LimitSettings.of("half", PERMITS / 2).withWithin("db").withRejectHopeless(true),
            LimitSettings.of("lent", PERMITS * 2)
                    .withClusterPermits(PERMITS * 2)
                    .withRejectHopeless(true));

    private final Random random = new Random(7);
    private volatile int slower = 1;

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void nearlyAllOfTheCapacityIsDoneInTime(boolean interrupted) {
        TaskSpec spec = spec("db");
        assertDone(
                interrupted ? "interrupted" : "bodies ignore interrupts", () -> offer(3, 6, interrupted, each -> spec));
    }

    @Test
    void withALimitWithin() {
        TaskSpec[] specs = {spec("db"), spec("half")};
        assertDone("a limit within", () -> offer(3, 6, false, each -> specs[each % 2]));
    }

    @Test
    void withKeys() {
        TaskSpec spec = spec("db");
        assertDone("four keys", () -> offer(3, 6, false, each -> test.engine.keyed(spec, "key-" + each % 4)));
    }

    /** A replica that is lent 10 and 30 permits by turns has 20 on average. */
    @Test
    void withALease() {
        TestLease lease = new TestLease(test.limit("lent"));
        lease.lend(PERMITS / 2, PERMITS * 2);
        TaskSpec spec = spec("lent");
        Tries.onePasses(TRIES, () -> {
            Load load = offer(3, 10, false, each -> {
                if (each % 600 == 0) { // each second
                    lease.lend(each % 1200 == 0 ? PERMITS / 2 : PERMITS * 3 / 2, PERMITS * 2);
                }
                return spec;
            });
            print("10 and 30 permits lent by turns", load);
            return load.ending(load.share() >= 0.85);
        });
    }

    /** As web requests do, each on a thread of its own. */
    @Test
    void atTheDoor() {
        TaskSpec spec = test.engine.spec("Shop.request", "db");
        assertDone("at the door", () -> new Load(3, 6, (load, call) -> {
                    Callable<?> body = load.body(false);
                    Thread.ofVirtual().start(() -> {
                        try {
                            Object unused = Deadline.call(DEADLINE, () -> answer(spec, body));
                            load.ended(null);
                        } catch (Throwable failure) {
                            load.ended(failure);
                        }
                    });
                })
                .run());
    }

    private @Nullable Object answer(TaskSpec spec, Callable<?> body) throws Exception {
        HeldPermit permit = test.engine.acquire(spec);
        try {
            return body.call();
        } finally {
            permit.leaveThread();
            permit.close(null);
        }
    }

    @Test
    void nobodyIsRefusedAtNineTenthsOfTheCapacity() {
        TaskSpec spec = spec("db");
        Tries.onePasses(TRIES, () -> {
            Load load = offer(0.9, 10, false, each -> spec);
            print("90 % of the capacity", load);
            return load.ending(load.hopeless.sum() == 0);
        });
    }

    /** Runs take ten times as long for three seconds. */
    @Test
    void aSlowTimePasses() {
        TaskSpec spec = spec("db");
        Tries.onePasses(TRIES, () -> {
            Load load = offer(3, 10, false, each -> {
                slower = each >= 600 * 3 && each < 600 * 6 ? 10 : 1;
                return spec;
            });
            print("10 times slower from 3 to 6 s", load);
            return load.ending(Arrays.stream(load.inTime, 7, 10).allMatch(done -> done >= 0.85 * PERMITS * 10));
        });
    }

    private TaskSpec spec(String limit) {
        return test.engine.spec("Shop.price", limit, null, DEADLINE);
    }

    private void assertDone(String what, Supplier<Load> offer) {
        Tries.onePasses(TRIES, () -> {
            Load load = offer.get();
            print(what, load);
            return load.ending(load.share() >= 0.97
                    && load.dead.sum() <= load.admitted() / 50
                    && load.late.sum() <= load.admitted() / 50);
        });
    }

    private static void print(String what, Load load) {
        System.out.printf(
                "%s: %.1f %% of the capacity in time; %d hopeless, told after %d us (median); of %d admitted %d died waiting, %d were"
                        + " late; by second %s; %s%n",
                what,
                100 * load.share(),
                load.hopeless.sum(),
                load.refusedAfter(),
                load.admitted(),
                load.dead.sum(),
                load.late.sum(),
                Arrays.toString(load.inTime),
                load.pauses);
    }

    private Load offer(double times, int seconds, boolean interrupted, IntFunction<TaskSpec> specs) {
        return new Load(times, seconds, (load, call) -> {
                    long asked = System.nanoTime();
                    CompletableFuture<@Nullable Object> future =
                            test.engine.submit(specs.apply(call), load.body(interrupted)::call);
                    if (future.isCompletedExceptionally()) {
                        load.refusedAfter.add(System.nanoTime() - asked);
                    }
                    CompletableFuture<?> unused = future.whenComplete((value, failure) -> load.ended(failure));
                })
                .run();
    }

    /** Calls that come at an even rate. */
    private final class Load {

        private final int calls;
        private final long every;
        private final int seconds;
        private final BiConsumer<Load, Integer> caller;
        private final CountDownLatch open;
        private final LongAdder hopeless = new LongAdder();
        private final LongAdder dead = new LongAdder();
        private final LongAdder late = new LongAdder();
        private final LongAdder timeInTime = new LongAdder();
        private final Tries.Pauses pauses = new Tries.Pauses();
        private final List<Long> refusedAfter = new ArrayList<>();
        private final int[] inTime;
        private long begin;

        Load(double times, int seconds, BiConsumer<Load, Integer> caller) {
            this.every = (long) (RUN / PERMITS / times);
            this.calls = (int) (TimeUnit.SECONDS.toNanos(seconds) / every);
            this.seconds = seconds;
            this.caller = caller;
            this.open = new CountDownLatch(calls);
            this.inTime = new int[seconds];
        }

        Load run() {
            begin = System.nanoTime();
            for (int call = 0; call < calls; call++) {
                for (long left = 1; left > 0; left = begin + call * every - System.nanoTime()) {
                    LockSupport.parkNanos(left);
                }
                caller.accept(this, call);
            }
            TestEngine.await(open);
            return this;
        }

        /** Runs for 50 to 150 ms, and counts what it has done in time. */
        Callable<@Nullable Object> body(boolean interrupted) {
            long due = System.nanoTime() + DEADLINE.toNanos();
            double run = RUN * (0.5 + random.nextDouble());
            return () -> {
                long start = System.nanoTime();
                long end = start;
                for (double left = run; left > 0; ) {
                    long step = Math.min((long) left * slower, STEP);
                    if (interrupted) {
                        Thread.sleep(Duration.ofNanos(step));
                    } else {
                        LockSupport.parkNanos(step);
                        boolean ignored = Thread.interrupted();
                    }
                    long now = System.nanoTime();
                    pauses.add(step, now - end);
                    left -= (now - end) / (double) slower;
                    end = now;
                }
                if (end < due) {
                    count(end, end - start);
                }
                return null;
            };
        }

        private void count(long end, long time) {
            int second = (int) ((end - begin) / TimeUnit.SECONDS.toNanos(1));
            if (second < seconds) {
                synchronized (inTime) {
                    inTime[second]++;
                }
                timeInTime.add(second < WARM ? 0 : time);
            }
        }

        void ended(@Nullable Throwable failure) {
            if (failure instanceof LimitExceededException rejection) {
                (rejection.reason() == Reason.HOPELESS ? hopeless : dead).increment();
            } else if (failure instanceof CallTimeoutException) {
                late.increment();
            } else {
                assertThat(failure).isNull();
            }
            open.countDown();
        }

        /** How much of the permits' time went into calls that were done in time. */
        double share() {
            return timeInTime.sum() / (double) (TimeUnit.SECONDS.toNanos(seconds - WARM) * PERMITS);
        }

        Tries.Ending ending(boolean passed) {
            return pauses.ending(passed);
        }

        long admitted() {
            return calls - hopeless.sum();
        }

        long refusedAfter() {
            return refusedAfter.isEmpty()
                    ? 0
                    : refusedAfter.stream()
                                    .sorted()
                                    .skip(refusedAfter.size() / 2)
                                    .findFirst()
                                    .orElse(0L)
                            / 1000;
        }
    }
}
