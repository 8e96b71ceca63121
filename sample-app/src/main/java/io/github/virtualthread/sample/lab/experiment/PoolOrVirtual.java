package io.github.virtualthread.sample.lab.experiment;

import static io.github.virtualthread.sample.lab.Answer.number;

import io.github.virtualthread.sample.lab.About;
import io.github.virtualthread.sample.lab.Act;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Contender;
import io.github.virtualthread.sample.lab.Experiment;
import io.github.virtualthread.sample.lab.Measurement;
import io.github.virtualthread.sample.lab.Parameter;
import io.github.virtualthread.sample.lab.Ranges;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Sampler;
import io.github.virtualthread.sample.lab.Source;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.springframework.boot.task.ThreadPoolTaskExecutorBuilder;
import org.springframework.core.annotation.Order;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.stereotype.Component;

/** Tasks that block, on pools and on threads of their own. */
@Component
@Order(10)
class PoolOrVirtual implements Experiment {

    private static final String FIXED = "fixed pool of 10";
    private static final String DEFAULT = "Spring Boot's default pool of 8";
    private static final String CACHED = "cached pool of at most 2,000";
    private static final String ASYNC = "@Async on virtual threads";
    private static final String VIRTUAL = "@VirtualThread";

    static final String POOLS_WIN = "The pools win: threads are kept";
    static final String LARGE_POOL = "A pool that is large enough is as fast";
    static final String VIRTUAL_WINS = "Virtual threads beat every pool";

    private static final Column MILLIS = new Column("millis", "until all are done", "ms");
    private static final Column THREADS = new Column("threads", "threads", "");

    /** Whoever would take longer is left out. */
    private static final Duration LONGEST = Duration.ofSeconds(60);

    private static final int WARM_UP_TASKS = 200;
    private static final Duration WARM_UP_TIME = Duration.ofMillis(1);

    /** That many fit into any heap that the lab runs in. */
    private static final int FEW = 100_000;

    private static final int PROBE_TASKS = 20_000;
    private static final Duration PROBE_TIME = Duration.ofSeconds(2);

    private final BlockingTasks tasks;
    private final ThreadPoolTaskExecutorBuilder defaults;

    PoolOrVirtual(BlockingTasks tasks, ThreadPoolTaskExecutorBuilder defaults) {
        this.tasks = tasks;
        this.defaults = defaults;
    }

    @Override
    public About about() {
        return new About(
                "pool-or-virtual",
                Act.WAITING_IS_CHEAP,
                "Pool or virtual threads",
                "Many tasks wait a second each. How long until all are done?",
                List.of(POOLS_WIN, LARGE_POOL, VIRTUAL_WINS),
                List.of(
                        new Parameter("tasks", "Tasks", "", 1, 100_000, 100, 40).inTerminalUpTo(5_000_000),
                        new Parameter("millis", "Each blocks", "ms", 1, 5_000, 1_000, 250),
                        Parameter.ROUNDS),
                "That virtual threads speed up work that needs the processor. These tasks only wait.",
                Source.of(BlockingTasks.class),
                "",
                "",
                30,
                6,
                "tasks done");
    }

    @Override
    public Answer run(Run run) throws Exception {
        int number = run.get("tasks");
        Duration time = Duration.ofMillis(run.get("millis"));
        List<String> notes = new ArrayList<>();
        List<Contender> contenders = new ArrayList<>();
        for (Way way : ways()) {
            Duration expected = time.multipliedBy(Math.ceilDiv(number, way.atOnce()));
            Optional<String> refusal = expected.compareTo(LONGEST) > 0
                    ? Optional.of("Left out: %s would take %,d s".formatted(way.name(), expected.toSeconds()))
                    : refusal(way, number);
            if (refusal.isPresent()) {
                notes.add(refusal.get());
            } else {
                contenders.add(new Contender(
                        way.name(),
                        () -> measure(way, WARM_UP_TASKS, WARM_UP_TIME, (seconds, done) -> {}),
                        () -> measure(way, number, time, (seconds, done) -> run.point(way.name(), seconds, done))));
            }
        }
        if (contenders.isEmpty()) {
            String nobody = "None of them can run %,d tasks of %,d ms here.".formatted(number, time.toMillis());
            return new Answer(nobody, List.of(), List.of(), List.of(), notes);
        }
        List<Row> rows = run.compare(contenders);
        Ranges ranges = new Ranges(run.get(Parameter.ROUNDS.name()));
        return new Answer(sentence(number, time, rows), List.of(MILLIS, THREADS), rows, List.of(), notes)
                .withRight(right(rows, ranges), ranges.open());
    }

    /** Why so many have no room in the heap. A few of them are run for that. */
    private static Optional<String> refusal(Way way, int number) throws Exception {
        if (number <= FEW) {
            return Optional.empty();
        }
        measure(way, PROBE_TASKS, PROBE_TIME, (seconds, done) -> {}); // frames of compiled code are smaller
        long before = HeapNeed.inUse();
        OpenTasks tasks = new OpenTasks(PROBE_TASKS);
        try (Runner runner = way.open().call()) {
            try {
                for (int i = 0; i < PROBE_TASKS; i++) {
                    tasks.add(i, runner.start().apply(PROBE_TIME));
                }
                Thread.sleep(PROBE_TIME.dividedBy(2)); // by then all of them wait
                long waiting = HeapNeed.inUse() - before;
                int open = Math.max(1, PROBE_TASKS - tasks.done());
                tasks.await();
                return new HeapNeed(Math.max(0, waiting) / open, open)
                        .refusal(way.name(), number, Runtime.getRuntime().maxMemory() - before);
            } finally {
                tasks.cancel();
            }
        }
    }

    private List<Way> ways() {
        return List.of(
                new Way(FIXED, 10, () -> pool(10)),
                new Way(DEFAULT, 8, this::defaultPool),
                new Way(CACHED, 2_000, () -> pool(2_000)),
                new Way(ASYNC, Integer.MAX_VALUE, () -> new Runner(tasks::async, () -> -1, () -> {})),
                new Way(VIRTUAL, Integer.MAX_VALUE, () -> new Runner(tasks::virtual, () -> -1, () -> {})));
    }

    /** Grows up to that size, and then queues. */
    private static Runner pool(int size) {
        var pool = new ThreadPoolExecutor(size, size, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
        return new Runner(
                time -> CompletableFuture.runAsync(() -> block(time), pool),
                pool::getLargestPoolSize,
                pool::shutdownNow);
    }

    private Runner defaultPool() {
        ThreadPoolTaskExecutor pool = defaults.build();
        pool.initialize();
        return new Runner(
                time -> pool.submitCompletable(() -> block(time)),
                () -> pool.getThreadPoolExecutor().getLargestPoolSize(),
                () -> pool.getThreadPoolExecutor().shutdownNow());
    }

    private static void block(Duration time) {
        try {
            Thread.sleep(time);
        } catch (InterruptedException closed) {
            Thread.currentThread().interrupt();
        }
    }

    private static Measurement measure(Way way, int number, Duration time, Watch watch) throws Exception {
        OpenTasks tasks = new OpenTasks(number);
        try (Runner runner = way.open().call()) {
            long begin = System.nanoTime();
            Sampler sampler = Sampler.every(Duration.ofMillis(50), seconds -> watch.at(seconds, tasks.done()));
            try {
                for (int i = 0; i < number; i++) {
                    tasks.add(i, runner.start().apply(time));
                }
                tasks.await();
            } finally {
                tasks.cancel();
                sampler.end();
            }
            Measurement measured = Measurement.of(MILLIS.key(), (System.nanoTime() - begin) / 1e6);
            int threads = runner.threads().call();
            return measured.and(THREADS.key(), threads < 0 ? number : threads);
        }
    }

    private static String sentence(int number, Duration time, List<Row> rows) {
        Row fastest = rows.stream()
                .min(Comparator.comparingDouble(row -> row.median(MILLIS.key())))
                .orElseThrow();
        if (rows.size() == 1) {
            return "%,d tasks of %,d ms took %,.0f ms with %s, the only one that could run them."
                    .formatted(number, time.toMillis(), fastest.median(MILLIS.key()), fastest.name());
        }
        Row slowest = rows.stream()
                .max(Comparator.comparingDouble(row -> row.median(MILLIS.key())))
                .orElseThrow();
        return "%,d tasks of %,d ms took %,.0f ms with %s and %,.0f ms with %s: %s times as long."
                .formatted(
                        number,
                        time.toMillis(),
                        fastest.median(MILLIS.key()),
                        fastest.name(),
                        slowest.median(MILLIS.key()),
                        slowest.name(),
                        number(slowest.median(MILLIS.key()) / fastest.median(MILLIS.key())));
    }

    /** Pools that were left out would have taken longer. */
    static String right(List<Row> rows, Ranges ranges) {
        Optional<Row> virtual = fastest(rows, name -> name.equals(ASYNC) || name.equals(VIRTUAL));
        Optional<Row> pool = fastest(rows, name -> !name.equals(ASYNC) && !name.equals(VIRTUAL));
        if (virtual.isEmpty()) {
            return "";
        }
        if (pool.isEmpty() || ranges.isMore(pool.get(), virtual.get(), MILLIS)) {
            return VIRTUAL_WINS;
        }
        if (ranges.isMore(virtual.get(), pool.get(), MILLIS)) {
            return POOLS_WIN;
        }
        return ranges.isAlike(pool.get(), virtual.get(), MILLIS) ? LARGE_POOL : "";
    }

    private static Optional<Row> fastest(List<Row> rows, Predicate<String> which) {
        return rows.stream()
                .filter(row -> which.test(row.name()))
                .min(Comparator.comparingDouble(row -> row.median(MILLIS.key())));
    }

    /**
     * One way to run tasks.
     *
     * @param atOnce most tasks that run at once
     */
    private record Way(String name, int atOnce, Callable<Runner> open) {}

    /**
     * Runs tasks until it is closed.
     *
     * @param threads how many there were; negative for one a task
     */
    private record Runner(Start start, Callable<Integer> threads, Runnable end) implements AutoCloseable {

        @Override
        public void close() {
            end.run();
        }
    }

    @FunctionalInterface
    private interface Start {
        CompletableFuture<?> apply(Duration time) throws InterruptedException;
    }

    @FunctionalInterface
    private interface Watch {
        void at(double seconds, int done);
    }
}
