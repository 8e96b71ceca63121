package io.github.virtualthread.bench;

import java.util.concurrent.CountDownLatch;
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
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * A burst of calls whose body returns at once: what is left is what a call costs. The bursts that are not joined and those with
 * many keys leave out the contenders that no goal compares there.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(jvmArgsAppend = {"-Xms2g", "-Xmx2g"})
public class EmptyBody {

    private static final int CALLS = 10_000;

    @Param({
        "jdk",
        "floor",
        "async",
        "ours",
        "ours-app",
        "ours-app-metered",
        "spring-7",
        "async-limited",
        "async-full",
        "by-hand",
        "ours-async",
        "ours-full",
        "async-pool"
    })
    public String contender;

    private volatile CountDownLatch ended;
    private Burst burst;

    @Setup
    public void prepare(BenchmarkParams params) {
        boolean joined = !params.getBenchmark().endsWith("notJoined");
        int keys = params.getBenchmark().endsWith("manyKeys") ? 30 : 3;
        burst = new Burst(contender, keys, CALLS, joined ? () -> "done" : this::end);
    }

    private String end() {
        ended.countDown();
        return "done";
    }

    /** The caller waits for each result in the order of the calls. If it is faster than the calls, many of them wake it up. */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    @Rows(
            "contender=jdk,floor,async,ours,ours-app,ours-app-metered,spring-7,async-limited,async-full,ours-async,by-hand,"
                    + "ours-full,async-pool")
    public void joined() throws Exception {
        burst.start();
        burst.join();
    }

    /** The caller waits once, until the last body has ended. */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    @Rows("contender=floor,ours,async-full,ours-full,async-pool")
    public void notJoined() throws Exception {
        ended = new CountDownLatch(CALLS);
        burst.start();
        ended.await();
    }

    /** The same as joined, with 30 keys in the caller's MDC rather than three. */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    @Rows("contender=async-full,ours-full,async-pool")
    public void manyKeys() throws Exception {
        burst.start();
        burst.join();
    }

    @TearDown
    public void close() {
        burst.close();
    }
}
