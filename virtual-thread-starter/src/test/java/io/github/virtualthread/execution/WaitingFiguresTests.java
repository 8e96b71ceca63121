package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.virtualthread.limit.LimitSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.MDC;

/** What calls that wait hold of the heap; the figures of the page on context. */
@Timeout(300)
@Tag("benchmark")
class WaitingFiguresTests {

    private static final int CALLS = 100_000;

    @RegisterExtension
    private final TestEngine test = new TestEngine(LimitSettings.of("db", 1));

    private final CountDownLatch gate = test.latch();

    @Test
    void aWaitingCallHoldsFewBytes() {
        test.hold("db", gate);
        long none = bytesPerCall(0, false);
        long few = bytesPerCall(3, false);
        long fewOfItsOwn = bytesPerCall(3, true);
        long manyOfItsOwn = bytesPerCall(30, true);

        System.out.printf(
                "bytes of heap per waiting call: no MDC %d, 3 keys of a burst %d, 3 keys of its own %d, 30 keys of its own"
                        + " %d%n",
                none, few, fewOfItsOwn, manyOfItsOwn);
        assertThat(fewOfItsOwn).isLessThan(360);
        assertThat(few - none).as("a burst of calls shares its MDC").isLessThan(60);
        assertThat(manyOfItsOwn).isGreaterThan(fewOfItsOwn);
    }

    @Test
    void aDeadlineCostsOnlyThoseWhoHaveOne() throws Exception {
        test.hold("db", gate);
        TaskSpec spec = test.engine.spec("Shop.price", "db");
        TaskSpec late = test.engine.spec("Shop.price", "db", null, Duration.ofHours(1));
        long unused = bytesPerCall(spec, false); // what is made once
        long none = bytesPerCall(spec, false);
        long own = bytesPerCall(late, false);
        long inherited = Deadline.call(Duration.ofHours(1), () -> bytesPerCall(spec, false));
        long noneAfterwards = bytesPerCall(spec, false);

        System.out.printf(
                "bytes of heap per waiting call: no deadline %d, its own %d, that of its caller %d, no deadline again"
                        + " %d%n",
                none, own, inherited, noneAfterwards);
        assertThat(noneAfterwards).isCloseTo(none, within(1L));
        assertThat(own - none).isLessThan(300);
        assertThat(own - inherited).as("the deadline of a caller is shared").isPositive();
    }

    /** The future and what hangs on it included, the arguments of the call not. */
    private long bytesPerCall(int keys, boolean ofItsOwn) {
        MDC.clear();
        for (int key = 0; key < keys; key++) {
            MDC.put("key" + key, "value of the key");
        }
        return bytesPerCall(test.engine.spec("Shop.price", "db"), ofItsOwn);
    }

    private long bytesPerCall(TaskSpec spec, boolean ofItsOwn) {
        TaskBody body = () -> null;
        List<CompletableFuture<@Nullable Object>> futures = new ArrayList<>(CALLS);
        long before = heap();
        for (int i = 0; i < CALLS; i++) {
            if (ofItsOwn) {
                MDC.put("key0", Integer.toString(i));
            }
            futures.add(test.engine.submit(spec, body));
        }
        long after = heap();
        assertThat(test.limit("db").waiting()).isEqualTo(CALLS);
        futures.forEach(future -> future.cancel(false));
        return (after - before) / CALLS;
    }

    /** What is used when more collections find nothing: threads of calls that were cancelled may still let go of something. */
    static long heap() {
        Runtime runtime = Runtime.getRuntime();
        long least = Long.MAX_VALUE;
        for (int vain = 0; vain < 3; ) {
            System.gc();
            long used = runtime.totalMemory() - runtime.freeMemory();
            vain = used < least ? 0 : vain + 1;
            least = Math.min(least, used);
        }
        return least;
    }
}
