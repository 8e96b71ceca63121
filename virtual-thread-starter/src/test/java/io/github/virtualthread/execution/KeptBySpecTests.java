package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitSettings;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a listener keeps with the spec of its calls. */
@Timeout(300)
@Tag("jdk")
class KeptBySpecTests {

    @RegisterExtension
    private final TestEngine test = new TestEngine(LimitSettings.of("db", 1));

    private final TaskListener listener = new TaskListener() {};
    private final TaskListener another = new TaskListener() {};
    private final AtomicInteger lookups = new AtomicInteger();
    private final Function<TaskSpec, String> lookup = spec -> spec.name() + lookups.incrementAndGet();

    @Test
    void isLookedUpOnceForASpec() {
        TaskSpec spec = test.engine.spec("Test.task", "db");

        assertThat(Calls.kept(spec, listener, lookup)).isEqualTo("Test.task1");
        assertThat(Calls.kept(spec, listener, lookup)).isEqualTo("Test.task1");
        assertThat(Calls.kept(test.engine.keyed(spec, "alice"), listener, lookup))
                .isEqualTo("Test.task1");
        assertThat(Calls.kept(test.engine.spec("Test.task", "db"), listener, lookup))
                .isEqualTo("Test.task2");
    }

    @Test
    void isKeptForEachListenerApart() {
        TaskSpec spec = test.engine.spec("Test.task", null);

        assertThat(Calls.kept(spec, listener, lookup)).isEqualTo("Test.task1");
        assertThat(Calls.kept(spec, another, lookup)).isEqualTo("Test.task2");
        assertThat(Calls.kept(spec, listener, lookup)).isEqualTo("Test.task1");
        assertThat(Calls.kept(spec, another, lookup)).isEqualTo("Test.task2");
    }

    @Test
    void allThreadsSeeWhatWasKeptFirst() throws Exception {
        for (int round = 0; round < 1000; round++) {
            TaskSpec spec = test.engine.spec("Test.task", null);
            CyclicBarrier both = new CyclicBarrier(2);
            Set<String> seen = ConcurrentHashMap.newKeySet();
            try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
                for (int i = 0; i < 2; i++) {
                    threads.submit(() -> {
                        both.await();
                        return seen.add(Calls.kept(spec, listener, lookup));
                    });
                }
            }

            assertThat(seen).containsExactly(Calls.kept(spec, listener, lookup));
        }
    }
}
