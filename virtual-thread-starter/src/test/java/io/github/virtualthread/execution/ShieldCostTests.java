package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A JVM of its own, so that no other test shields a body. */
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT)
@Tag("jdk")
class ShieldCostTests {

    @Test
    void bodiesThatShieldNothingLoadNothingOfIt(@TempDir Path folder) throws Exception {
        Path loaded = folder.resolve("loaded.txt");

        ChildJvm.Report report = new ChildJvm(Stops.class)
                .with("-Xlog:class+load:file=" + loaded)
                .run();

        assertThat(report.exit()).as(report.output()).isZero();
        assertThat(report.figures()).containsEntry("stopped", 3L);
        assertThat(Files.readString(loaded))
                .contains("InterruptibleCall ", "InterruptibleCall$Cause ", "TimeBounds ")
                .doesNotContain("Shields", "StoppableBody$", "StatementOutcome");
    }

    /** Stops bodies in all ways. */
    static final class Stops {

        private Stops() {}

        public static void main(String[] arguments) throws Exception {
            try (TestEngine test = new TestEngine(Duration.ofMillis(1), TestEngine.ENOUGH, LimitSettings.of("db", 1))) {
                QueueAppender log = new QueueAppender(TimeBounds.class);
                CountDownLatch never = new CountDownLatch(1);
                CountDownLatch looked = new CountDownLatch(1);
                TaskSpec spec = test.engine.spec("Test.task", "db", Duration.ofMillis(1));
                CompletableFuture<?> timedOut = test.engine.submit(spec, () -> {
                    TestEngine.awaitStubbornly(looked);
                    return null;
                });
                log.next();
                looked.countDown();
                TestEngine.awaitIdle(test);
                CompletableFuture<?> cancelled = test.hold("db", never);
                cancelled.cancel(true);
                TestEngine.awaitIdle(test);
                CompletableFuture<?> stopped = test.hold("db", never);
                test.engine.stop(Duration.ZERO);
                ChildProgram.tell("stopped", count(timedOut) + count(cancelled) + count(stopped));
            }
        }

        private static int count(CompletableFuture<?> future) {
            return future.isCompletedExceptionally() ? 1 : 0;
        }
    }
}
