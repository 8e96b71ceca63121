package io.github.virtualthread.bench;

import io.github.virtualthread.Limited;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.Semaphore;
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
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.resilience.annotation.ConcurrencyLimit;
import org.springframework.resilience.annotation.EnableResilientMethods;

/**
 * A body that returns at once, on the caller's own thread, under a limit of eight. The JDK's semaphore is fair and has no proxy.
 * Neither one caller nor eight ever wait, so only 64 are measured as virtual threads as well.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 1)
@Measurement(iterations = 3)
@Fork(jvmArgsAppend = {"-Xms1g", "-Xmx1g"})
public class Guarded {

    private static final int PERMITS = 8;
    private static final Duration TIME = Duration.ofSeconds(1);

    @Param({"semaphore", "spring-7", "ours"})
    public String contender;

    @Param({"1", "8", "64"})
    public int callers;

    @Param({"platform", "virtual"})
    public String threads;

    private Callable<?> guarded;
    private AutoCloseable end;

    @Setup
    public void prepare() {
        if (contender.equals("semaphore")) {
            guarded = Services.guarded(new Semaphore(PERMITS, true), new Guard()::call);
            end = () -> {};
        } else {
            Class<?> configuration = contender.equals("ours") ? Ours.class : Spring7.class;
            ConfigurableApplicationContext context =
                    Contender.start(contender, configuration, PERMITS, () -> "not called");
            guarded = context.getBean(Guard.class)::call;
            end = context;
        }
    }

    @Benchmark
    @Rows({
        "callers=1 threads=platform contender=semaphore,spring-7,ours",
        "callers=8 threads=platform contender=semaphore,spring-7,ours",
        "callers=64 threads=platform contender=semaphore,spring-7,ours",
        "callers=64 threads=virtual contender=semaphore,spring-7,ours"
    })
    public void call(Measured measured) throws Exception {
        Callers seen = Callers.call(callers, threads, TIME, guarded);
        measured.time = seen.nanosPerCall();
        measured.bytes = seen.bytesPerCall();
        measured.longestWaitMillis = seen.longest() / 1_000_000.0;
    }

    @TearDown
    public void end() throws Exception {
        end.close();
    }

    /** Without any advice. */
    static class Guard {

        Object call() {
            return "done";
        }
    }

    static class LimitedGuard extends Guard {

        @Override
        @Limited("db")
        Object call() {
            return super.call();
        }
    }

    static class ConcurrencyLimitGuard extends Guard {

        @Override
        @ConcurrencyLimit(limitString = "${bench.permits}")
        Object call() {
            return super.call();
        }
    }

    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    @Import(LimitedGuard.class)
    static class Ours {}

    @EnableResilientMethods
    @Import(ConcurrencyLimitGuard.class)
    static class Spring7 {}
}
