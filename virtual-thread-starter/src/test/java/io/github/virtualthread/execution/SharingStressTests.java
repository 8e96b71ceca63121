package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitChange.Source;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.Occupation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each way to share a limit, and each pair of them, under calls at random: no total is exceeded, nothing is lost, and all permits are
 * back in the end.
 */
@Tag("slow")
@Timeout(600)
@Tag("jdk")
class SharingStressTests {

    private static final int CALLERS = 4;
    private static final int CALLS = 1_500; // of each caller
    private static final int KEYS = 4;
    private static final int PER_KEY = 2;
    private static final int MOST = 5; // permits that any change gives
    private static final long SOON = Duration.ofMillis(3).toNanos();

    private enum Feature {
        KEY,
        WITHIN,
        REENTRY,
        OCCUPY,
        PERMITS_FROM,
        RESIZE,
        DEADLINE,
        STOP
    }

    /** How many bodies run, under each limit and under each key of it. */
    private final Map<String, AtomicInteger> running = new ConcurrentHashMap<>();

    private final Map<String, AtomicInteger> most = new ConcurrentHashMap<>();
    private final LongAdder ran = new LongAdder();
    private final LongAdder ended = new LongAdder();
    private final LongAdder reentered = new LongAdder();
    private final LongAdder late = new LongAdder();
    private final Queue<CompletableFuture<?>> futures = new ConcurrentLinkedQueue<>();
    private final Queue<Throwable> broken = new ConcurrentLinkedQueue<>();

    static Stream<Set<Feature>> features() {
        return Stream.of(Feature.values()).flatMap(one -> Stream.of(Feature.values())
                .filter(other -> other.compareTo(one) >= 0)
                .map(other -> EnumSet.of(one, other)));
    }

    @ParameterizedTest
    @MethodSource("features")
    void countsStayExact(Set<Feature> features) throws Exception {
        long seed = Long.getLong("stress.seed", System.nanoTime());
        System.out.println("stress.seed=" + seed);
        SplittableRandom random = new SplittableRandom(seed);
        try (TestEngine test = new TestEngine(settings(features))) {
            AtomicBoolean over = new AtomicBoolean();
            List<Thread> callers = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) {
                SplittableRandom own = random.split();
                callers.add(start(() -> calls(test, features, own)));
            }
            SplittableRandom own = random.split();
            Thread operator = start(() -> {
                while (!over.get()) {
                    operate(test, features, own);
                }
            });
            for (Thread caller : callers) {
                join(caller);
            }
            over.set(true);
            join(operator);
            for (CompletableFuture<?> each : futures) {
                await(each);
            }
            TestEngine.awaitIdle(test);
            assertThat(broken).isEmpty();
            assertThat(ran.sum()).isPositive();
            long expected = (long) CALLERS * CALLS;
            assertThat(ended.sum()).isEqualTo(expected);
            most.forEach((name, number) ->
                    assertThat(number.get()).as(name).isLessThanOrEqualTo(name.contains(" ") ? PER_KEY : MOST));
            for (TaskLimit each : test.limits.all()) {
                assertThat(each.available()).as(each.toString()).isEqualTo(each.permits());
                assertThat(each.waiting()).isZero();
                assertThat(each.keys()).isZero();
                assertThat(each.isOccupied()).isFalse();
            }
            Late.awaitNoneInTimer(test);
            if (features.contains(Feature.REENTRY)) {
                assertThat(reentered.sum()).isPositive();
            }
            assertThat(late.sum() > 0).isEqualTo(features.contains(Feature.DEADLINE));
        }
    }

    private static LimitSettings[] settings(Set<Feature> features) {
        LimitSettings db = LimitSettings.of("db", 4);
        LimitSettings report = LimitSettings.of("report", 3)
                .withWithin(features.contains(Feature.WITHIN) ? "db" : null)
                .withMaxWait(Duration.ofMillis(3))
                .withQueueCapacity(30);
        int perKey = features.contains(Feature.KEY) ? PER_KEY : LimitSettings.UNBOUNDED;
        return new LimitSettings[] {db.withPermitsPerKey(perKey), report.withPermitsPerKey(perKey)};
    }

    private void calls(TestEngine test, Set<Feature> features, SplittableRandom random) {
        for (int i = 0; i < CALLS; i++) {
            TaskLimit limit = test.limit(random.nextBoolean() ? "db" : "report");
            String key = features.contains(Feature.KEY) && random.nextInt(5) > 0 ? "key-" + random.nextInt(KEYS) : null;
            SplittableRandom own = random.split();
            TaskBody body = () -> body(test, features, limit, key, own);
            Duration deadline = features.contains(Feature.DEADLINE) && random.nextInt(3) > 0
                    ? Duration.ofNanos(random.nextLong(1, SOON))
                    : null;
            TaskSpec shared = test.engine.spec("Shop.price", limit.name(), null, deadline);
            TaskSpec spec = key == null ? shared : test.engine.keyed(shared, key);
            if (random.nextInt(6) == 0) {
                call(test, spec, body);
            } else {
                CompletableFuture<@Nullable Object> future = test.engine.submit(spec, body);
                futures.add(future);
                if (random.nextInt(10) == 0) {
                    future.cancel(true);
                }
            }
            while (limit.waiting() > 100) {
                Thread.onSpinWait();
                if (limit.isOccupied()) {
                    break;
                }
            }
        }
    }

    private void call(TestEngine test, TaskSpec spec, TaskBody body) {
        try {
            Object unused = test.engine.call(spec, body);
        } catch (LimitExceededException expected) { // full, too late, or stopped
            late(expected);
        } catch (Throwable failure) {
            broken.add(failure);
        }
        ended.increment();
    }

    private @Nullable Object body(
            TestEngine test, Set<Feature> features, TaskLimit limit, @Nullable String key, SplittableRandom random)
            throws Throwable {
        List<String> counted = counted(limit, key);
        counted.forEach(name -> {
            int now = running.computeIfAbsent(name, none -> new AtomicInteger()).incrementAndGet();
            most.computeIfAbsent(name, none -> new AtomicInteger()).accumulateAndGet(now, Math::max);
        });
        try {
            ran.increment();
            if (random.nextInt(4) == 0) {
                Thread.yield();
            }
            if (features.contains(Feature.REENTRY) && random.nextInt(3) == 0) {
                reenter(test, limit, random);
            }
            return null;
        } finally {
            counted.forEach(name -> running.get(name).decrementAndGet());
        }
    }

    /** The limit and those around it; and the key, which is of this limit only. */
    private static List<String> counted(TaskLimit limit, @Nullable String key) {
        List<String> names = new ArrayList<>();
        for (TaskLimit each = limit; each != null; each = each.within()) {
            names.add(each.name());
        }
        if (key != null) {
            names.add(limit.name() + " " + key);
        }
        return names;
    }

    /** Calls under the same limit, under the one around it, or under the one within it. */
    private void reenter(TestEngine test, TaskLimit limit, SplittableRandom random) throws Throwable {
        TaskLimit db = test.limit("db");
        TaskLimit report = test.limit("report");
        TaskLimit wanted = random.nextBoolean() && report.includes(db) ? (random.nextBoolean() ? db : report) : limit;
        boolean free = limit.includes(wanted);
        try {
            Object seen = test.engine.call(test.engine.spec("Shop.inner", wanted.name()), () -> "inside");
            assertThat(seen).isEqualTo("inside");
            reentered.increment();
        } catch (LimitExceededException refused) {
            late(refused);
            if (free && refused.reason() != Reason.DEADLINE) {
                broken.add(new AssertionError("a thread waits for its own permit", refused));
            }
        }
    }

    private void operate(TestEngine test, Set<Feature> features, SplittableRandom random) throws Exception {
        TaskLimit limit = test.limit(random.nextBoolean() ? "db" : "report");
        int permits = 2 + random.nextInt(MOST - 1);
        if (features.contains(Feature.RESIZE)) {
            limit.resize(permits);
        }
        if (features.contains(Feature.PERMITS_FROM)) {
            test.limits.change(test.limit("db"), now -> now.withPermits(permits), Source.POOL);
        }
        if (features.contains(Feature.OCCUPY)) {
            try (Occupation occupation = limit.occupy()) {
                Thread.sleep(0, random.nextInt(200_000));
            }
        }
        // not before some have run: while it stops, callers may get through all the rest
        if (features.contains(Feature.STOP) && ran.sum() > CALLS / 10 && random.nextInt(5) == 0) {
            test.engine.stop(Duration.ofMillis(random.nextInt(3)));
            test.engine.start();
        }
        Thread.sleep(1);
    }

    private void await(CompletableFuture<?> future) throws Exception {
        try {
            future.get(5, TimeUnit.MINUTES);
        } catch (CancellationException | ExecutionException expected) {
            if (expected.getCause() instanceof LimitExceededException refused) {
                late(refused);
            } else if (expected.getCause() instanceof TimeoutException) {
                late.increment();
            } else if (!(expected.getCause() instanceof CancellationException
                    || expected instanceof CancellationException)) {
                broken.add(expected);
            }
        }
        ended.increment();
    }

    private void late(LimitExceededException refused) {
        if (refused.reason() == Reason.DEADLINE) {
            late.increment();
        }
    }

    private Thread start(Action action) {
        return Thread.ofPlatform().start(() -> {
            try {
                action.run();
            } catch (Throwable failure) {
                broken.add(failure);
            }
        });
    }

    private static void join(Thread thread) throws InterruptedException {
        assertThat(thread.join(Duration.ofMinutes(5))).as("%s ends", thread).isTrue();
    }

    @FunctionalInterface
    private interface Action {

        void run() throws Throwable;
    }
}
