package io.github.virtualthread.bench;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
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

/** A burst of calls whose body parks for 1 ms, then joined. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(jvmArgsAppend = {"-Xms2g", "-Xmx2g"})
public class ParkingBody {

    private static final int CALLS = 10_000;

    @Param({"spring-7", "async-limited", "async-full", "ours-async", "ours-full", "async-pool"})
    public String contender;

    private Burst burst;

    @Setup
    public void prepare() {
        burst = new Burst(contender, 3, CALLS, ParkingBody::park);
    }

    private static String park() {
        LockSupport.parkNanos(1_000_000);
        return "done";
    }

    @Benchmark
    @OperationsPerInvocation(CALLS)
    @Rows("contender=spring-7,async-limited,async-full,ours-async,ours-full,async-pool")
    public void burst() throws Exception {
        burst.start();
        burst.join();
    }

    @TearDown
    public void end() {
        burst.close();
    }
}
