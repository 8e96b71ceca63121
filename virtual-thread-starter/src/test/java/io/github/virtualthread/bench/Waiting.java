package io.github.virtualthread.bench;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.slf4j.MDC;

/**
 * Many calls under a limit of 64 that all wait, for a permit or in their bodies, until the benchmark releases them. The heap that a
 * call holds hardly varies, so one iteration with fewer calls measures it. Spring's limit is left out, because its calls wait in
 * the same way as those of the bulkhead: as threads.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(jvmArgsAppend = {"-Xms3g", "-Xmx3g"})
public class Waiting {

    private static final int STARTED = 300_000;
    private static final int HELD = 100_000;

    @Param({"async-full", "ours-async", "ours-full", "async-pool"})
    public String contender;

    /** Number of keys in the caller's MDC. */
    @Param({"0", "3", "30"})
    public int keys;

    /** Whether all calls have the same MDC, or each has its own because the caller changes it before each call. */
    @Param({"shared", "own"})
    public String map;

    private volatile CountDownLatch gate;
    private int calls;
    private Burst burst;

    @Setup
    public void prepare(BenchmarkParams params) {
        calls = params.getBenchmark().endsWith("hold") ? HELD : STARTED;
        burst = new Burst(contender, keys, calls, this::await);
    }

    @Setup(Level.Invocation)
    public void shut() {
        gate = new CountDownLatch(1);
    }

    private String await() throws InterruptedException {
        gate.await();
        return "done";
    }

    /** Makes the calls; none of them ends. */
    @Benchmark
    @Warmup(iterations = 2)
    @Measurement(iterations = 3)
    @OperationsPerInvocation(STARTED)
    @Rows("keys=3 map=shared contender=async-full,ours-full,async-pool")
    public void start() throws Exception {
        burst.start();
    }

    /** The heap of the calls; the time means nothing. */
    @Benchmark
    @Warmup(iterations = 1)
    @Measurement(iterations = 1)
    @Rows({
        "keys=0 map=shared contender=async-full,ours-async,ours-full,async-pool",
        "keys=3 map=shared contender=async-full,ours-full,async-pool",
        "keys=3 map=own contender=async-full,ours-full,async-pool",
        "keys=30 map=shared contender=async-full,ours-full,async-pool",
        "keys=30 map=own contender=async-full,ours-full,async-pool"
    })
    public void hold(Measured measured) throws Exception {
        long before = heap();
        if (map.equals("shared")) {
            burst.start();
        } else {
            // each change makes a map, of keys and values that are there already
            burst.start(call -> MDC.put("request", call % 2 == 0 ? "even" : "odd"));
        }
        measured.bytes = (double) (heap() - before) / calls;
    }

    private static long heap() {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    @TearDown(Level.Invocation)
    public void open() throws Exception {
        gate.countDown();
        burst.join();
    }

    @TearDown
    public void end() {
        burst.close();
    }
}
