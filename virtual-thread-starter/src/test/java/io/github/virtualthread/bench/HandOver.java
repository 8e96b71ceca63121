package io.github.virtualthread.bench;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Callers, each of which waits for the result of its call before it makes the next one: permits change hands all the time. The time
 * is that of a call as its caller sees it.
 *
 * <p>Three cases are measured: all calls share one permit (1 permit, 8 callers), many wait for several (8 permits, 64 callers), and
 * none waits (64 permits, 8 callers). The last is left out for virtual callers. Spring's limit is left out, because it hands over
 * in the same way as the bulkhead.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 4)
@Measurement(iterations = 4)
@Fork(jvmArgsAppend = {"-Xms1g", "-Xmx1g"})
public class HandOver {

    private static final Duration TIME = Duration.ofMillis(600);

    @Param({"async-full", "ours-full", "async-pool"})
    public String contender;

    @Param({"1", "8", "64"})
    public int permits;

    @Param({"8", "64"})
    public int callers;

    @Param({"platform", "virtual"})
    public String threads;

    private Contender made;

    @Setup
    public void prepare() {
        made = Contender.of(contender, permits, () -> "done");
    }

    @Benchmark
    @Rows({
        "permits=1 callers=8 threads=platform contender=async-full,ours-full,async-pool",
        "permits=8 callers=64 threads=platform contender=async-full,ours-full,async-pool",
        "permits=64 callers=8 threads=platform contender=async-full,ours-full,async-pool",
        "permits=1 callers=8 threads=virtual contender=async-full,ours-full,async-pool",
        "permits=8 callers=64 threads=virtual contender=async-full,ours-full,async-pool"
    })
    public void callAndWait(Measured measured) throws Exception {
        Callers seen = Callers.call(callers, threads, TIME, () -> made.call().get());
        measured.time = seen.nanosPerCall();
        measured.bytes = seen.bytesPerCall();
    }

    @TearDown
    public void end() {
        made.end().run();
    }
}
