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
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/** Eight callers, each of which waits for its call before it makes the next: permits change hands all the time. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Threads(8)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 4, time = 1)
@Fork(jvmArgsAppend = {"-Xms1g", "-Xmx1g"})
public class HandOver {

    @Param({"async-full", "spring-7", "ours-full"})
    public String contender;

    @Param({"1", "64"})
    public int permits;

    private Contender made;

    @Setup
    public void prepare() {
        made = Contender.of(contender, permits, () -> "done");
    }

    @Benchmark
    public Object callAndWait() throws Exception {
        return made.call().get();
    }

    @TearDown
    public void end() {
        made.end().run();
    }
}
