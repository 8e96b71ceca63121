package io.github.virtualthread.bench;

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

/** A million calls that each sleep for a second, all at once: from the first call to the last result. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 2)
@Measurement(iterations = 1)
@Fork(jvmArgsAppend = {"-Xms6g", "-Xmx6g", "-XX:+AlwaysPreTouch"})
public class MillionSleepers {

    private static final int CALLS = 1_000_000;

    @Param({"jdk", "floor", "ours"})
    public String contender;

    private Burst burst;

    @Setup
    public void prepare() {
        burst = new Burst(contender, 0, CALLS, MillionSleepers::sleep);
    }

    private static String sleep() throws InterruptedException {
        Thread.sleep(1_000);
        return "done";
    }

    @Benchmark
    @Rows("contender=jdk,floor,ours")
    public void all() throws Exception {
        burst.start();
        burst.join();
    }

    @TearDown
    public void end() {
        burst.close();
    }
}
