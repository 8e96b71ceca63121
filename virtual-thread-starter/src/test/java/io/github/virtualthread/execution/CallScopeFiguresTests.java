package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.sun.management.ThreadMXBean;
import io.github.virtualthread.limit.LimitSettings;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What it costs a call that it ends with the client of its request. */
@Timeout(300)
@Tag("benchmark")
class CallScopeFiguresTests {

    private static final int CALLS = 50_000;
    private static final int ROUNDS = 5;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @RegisterExtension
    private final TestEngine test = new TestEngine(LimitSettings.of("db", 1));

    private final TaskSpec spec = test.engine.spec("Shop.price", "db");
    private final List<CompletableFuture<?>> futures = new ArrayList<>(CALLS);

    @Test
    void aCallThatWaits() throws Exception {
        test.hold("db", test.latch());
        for (int round = 0; round < ROUNDS; round++) {
            long none = bytesPerCall(this::submit);
            CallScope scope = new CallScope();
            long many = Calls.callBy(scope.deadline(null), () -> bytesPerCall(this::submit));
            long own = bytesPerCall(this::request);
            long again = bytesPerCall(this::submit);

            System.out.printf(
                    "bytes per call that waits: without a scope %d (again %d), in the scope of many %d, in a scope of its own %d%n",
                    none, again, many, own);
            if (round == ROUNDS - 1) {
                assertThat(again).isCloseTo(none, within(8L));
                assertThat(many - none).isLessThanOrEqualTo(128);
            }
        }
    }

    /** The threads of the bodies included, which have thread-locals of their own in an application, such as the MDC. */
    @Test
    void aCallThatRuns() throws Exception {
        ThreadLocal<String> others = new ThreadLocal<>();
        for (int round = 0; round < ROUNDS; round++) {
            long none = bytesPerRun(others);
            long many = Calls.callBy(new CallScope().deadline(null), () -> bytesPerRun(others));
            System.out.printf("bytes per call that runs: without a scope %d, in a scope %d%n", none, many);
            if (round == ROUNDS - 1) {
                assertThat(many - none).isLessThanOrEqualTo(128);
            }
        }
    }

    private long bytesPerRun(ThreadLocal<String> others) throws Exception {
        long before = THREADS.getTotalThreadAllocatedBytes();
        for (int i = 0; i < CALLS; i++) {
            Object unused = test.engine
                    .submit(spec, () -> {
                        others.set("value");
                        return null;
                    })
                    .get();
        }
        return (THREADS.getTotalThreadAllocatedBytes() - before) / CALLS;
    }

    private void submit() {
        futures.add(test.engine.submit(spec, () -> null));
    }

    /** With what there is once for a request. */
    private void request() {
        try {
            Calls.callBy(new CallScope().deadline(null), () -> {
                submit();
                return "";
            });
        } catch (Exception unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    private long bytesPerCall(Runnable call) {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < CALLS; i++) {
            call.run();
        }
        long bytes = THREADS.getCurrentThreadAllocatedBytes() - before;
        futures.forEach(future -> future.cancel(false));
        futures.clear();
        return bytes / CALLS;
    }
}
