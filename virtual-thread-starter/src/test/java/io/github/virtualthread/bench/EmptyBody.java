package io.github.virtualthread.bench;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
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

/** A burst of calls whose body returns at once, then joined: what is left is what a call costs. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(jvmArgsAppend = {"-Xms2g", "-Xmx2g"})
public class EmptyBody {

    private static final int CALLS = 10_000;

    @Param({"jdk", "floor", "async", "async-full", "spring-7", "ours", "ours-full", "ours-metered"})
    public String contender;

    private Burst burst;

    @Setup
    public void prepare() {
        burst = new Burst(contender, 64, CALLS, () -> "done");
    }

    @Benchmark
    @OperationsPerInvocation(CALLS)
    public void burst() throws Exception {
        burst.start();
        burst.join();
    }

    @TearDown
    public void end() {
        burst.close();
    }
}
