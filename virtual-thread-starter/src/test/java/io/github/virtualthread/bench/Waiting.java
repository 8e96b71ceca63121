package io.github.virtualthread.bench;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
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
import org.slf4j.MDC;

/** Many calls under a limit of 64 that all wait, for a permit or in their bodies, until somebody lets them go. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 2)
@Measurement(iterations = 3)
@Fork(jvmArgsAppend = {"-Xms3g", "-Xmx3g"})
public class Waiting {

    private static final int CALLS = 300_000;

    @Param({"async-full", "spring-7", "ours-full"})
    public String contender;

    private volatile CountDownLatch gate;
    private Burst burst;

    @Setup
    public void prepare() {
        burst = new Burst(contender, 64, CALLS, this::await);
    }

    @Setup(Level.Invocation)
    public void shut() {
        gate = new CountDownLatch(1);
    }

    private String await() throws InterruptedException {
        gate.await();
        return "done";
    }

    /** To make the calls, while nothing ends. */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public void start() throws Exception {
        burst.start();
    }

    /** What they hold, each with an MDC of its own; the time means nothing. */
    @Benchmark
    public void hold(Held held) throws Exception {
        long before = heap();
        // each change makes a map, of keys and values that are there already
        burst.start(call -> MDC.put("request", call % 2 == 0 ? "even" : "odd"));
        held.heldBytes = (heap() - before) / CALLS;
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

    /** Found by the benchmark itself. */
    @AuxCounters(AuxCounters.Type.EVENTS)
    @State(Scope.Thread)
    public static class Held {

        public long heldBytes;
    }
}
