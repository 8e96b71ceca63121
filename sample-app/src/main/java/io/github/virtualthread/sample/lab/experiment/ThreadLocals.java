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
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Source;
import io.github.virtualthread.sample.lab.experiment.LocalTasks.Buffers;
import java.lang.management.ManagementFactory;
import java.lang.ref.Reference;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;

/** Thread-locals on threads that are kept, and on threads that end with their task. */
@Component
@Order(36)
class ThreadLocals implements Experiment {

    static final String POOL = "pool of 50 threads";
    static final String LIMITED = "@VirtualThread with a limit of 50";

    static final String POOL_ONLY = "On the threads of a pool alone";
    static final String ALWAYS = "On virtual threads too";
    static final String NEVER = "Never";

    static final Column RUNNING = new Column("running", "heap while tasks run", "MB");
    static final Column AFTER = new Column("after", "heap after the last task", "MB");
    static final Column FOREIGN = new Column("foreign", "tasks that found a value of another task", "");

    private static final int AT_ONCE = 50;
    private static final double MEGABYTE = 1 << 20;

    private final LocalTasks tasks;

    ThreadLocals(LocalTasks tasks) {
        this.tasks = tasks;
    }

    @Override
    public About about() {
        return new About(
                "thread-locals",
                Act.WAITING_IS_CHEAP,
                "Thread-locals",
                "Each task keeps a buffer in a thread-local and never removes it. When does a task find the buffer of another task?",
                List.of(POOL_ONLY, ALWAYS, NEVER),
                List.of(
                        new Parameter("few", "Virtual threads, few", "", 1, 10_000, 1_000, 100),
                        new Parameter("many", "Virtual threads, many", "", 1, 100_000, 100_000, 10_000),
                        new Parameter("bytes", "A buffer has", "bytes", 1, 16_384, 4_096, 1_024),
                        Parameter.ROUNDS),
                "Libraries that keep caches in thread-locals of their own. On virtual threads such a cache is filled anew for each task.",
                Source.of(LocalTasks.class),
                "",
                "",
                30,
                10,
                "");
    }

    @Override
    public Answer run(Run run) throws Exception {
        List<Row> rows = run.compare(List.of(
                pool(run),
                virtual(run.get("few"), run),
                virtual(run.get("many"), run),
                contender(LIMITED, run.get("many"), AT_ONCE, run, buffers -> {
                    var unused = tasks.limited(buffers);
                })));
        return new Answer(sentence(rows, run), List.of(RUNNING, AFTER, FOREIGN), rows, List.of(), notes(run))
                .withRight(right(rows));
    }

    private static Contender pool(Run run) {
        int number = run.get("many");
        Contender.Trial trial = () -> {
            try (ExecutorService pool = Executors.newFixedThreadPool(AT_ONCE)) {
                return measure(number, AT_ONCE, run.get("bytes"), buffers -> {
                    var unused = pool.submit(using(buffers));
                });
            }
        };
        return new Contender(POOL, trial, trial);
    }

    private static Contender virtual(int number, Run run) {
        return contender(
                "%,d virtual threads".formatted(number),
                number,
                number,
                run,
                buffers -> Thread.startVirtualThread(() -> {
                    try {
                        buffers.use();
                    } catch (InterruptedException ended) {
                        Thread.currentThread().interrupt();
                    }
                }));
    }

    private static Contender contender(String name, int number, int atOnce, Run run, Start start) {
        Contender.Trial trial = () -> measure(number, atOnce, run.get("bytes"), start);
        return new Contender(name, trial, trial);
    }

    private static Callable<Void> using(Buffers buffers) {
        return () -> {
            buffers.use();
            return null;
        };
    }

    private static Measurement measure(int number, int atOnce, int bytes, Start start) throws Exception {
        Buffers buffers = new Buffers(
                new ThreadLocal<>(),
                bytes,
                new AtomicInteger(),
                new CountDownLatch(Math.min(number, atOnce)),
                new CountDownLatch(1),
                new CountDownLatch(number));
        try {
            long before = heap();
            for (int i = 0; i < number; i++) {
                start.start(buffers);
            }
            buffers.begun().await();
            Measurement measured = Measurement.of(RUNNING.key(), megabytes(before));
            buffers.gate().countDown();
            buffers.done().await();
            return measured.and(AFTER.key(), megabytes(before))
                    .and(FOREIGN.key(), buffers.foreign().get());
        } finally {
            buffers.gate().countDown(); // a run that is cancelled leaves no thread behind
            Reference.reachabilityFence(buffers);
        }
    }

    private static double megabytes(long before) {
        return Math.max(0, (heap() - before) / MEGABYTE);
    }

    /** Bytes in use after a collection. */
    private static long heap() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private static String sentence(List<Row> rows, Run run) {
        return ("Of %,d tasks, %,.0f found the value of another task on a pool of 50, and %,.0f with @VirtualThread. The heap grew by %s"
                        + " MB with %,d virtual threads and by %s MB under a limit of 50.")
                .formatted(
                        run.get("many"),
                        rows.getFirst().median(FOREIGN.key()),
                        rows.getLast().median(FOREIGN.key()),
                        number(rows.get(2).median(RUNNING.key())),
                        run.get("many"),
                        number(rows.getLast().median(RUNNING.key())));
    }

    static String right(List<Row> rows) {
        boolean pool = rows.getFirst().figure(FOREIGN).min() > 0;
        boolean virtual =
                rows.stream().skip(1).anyMatch(row -> row.figure(FOREIGN).max() > 0);
        return virtual ? ALWAYS : pool ? POOL_ONLY : NEVER;
    }

    private static List<String> notes(Run run) {
        return List.of(
                "The pool and the limit have %,d tasks, of which 50 run at once. Waiting calls of the limit have no thread, and so no"
                                .formatted(run.get("many"))
                        + " thread-local; their objects in the queue count as heap.",
                "The starter clears no thread-local, because the thread ends with its task. It builds threads that do not inherit"
                        + " InheritableThreadLocals, so a queued call does not get the values of whoever freed its permit.",
                "Heap: what is in use after a garbage collection, minus that before the first task, with the stacks of waiting virtual"
                        + " threads. It is shared with the rest of the sample.");
    }

    /** Starts one task. */
    @FunctionalInterface
    private interface Start {
        void start(Buffers buffers) throws Exception;
    }
}
