package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A JVM of its own, so that no other test shares limits with replicas. */
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT)
@Tag("jdk")
class LeaseCostTests {

    @Test
    void limitsOfThisJvmAloneLoadNothingOfLeases(@TempDir Path folder) throws Exception {
        Path loaded = folder.resolve("loaded.txt");

        ChildJvm.Report report = new ChildJvm(Calls.class)
                .with("-Xlog:class+load:file=" + loaded)
                .run();

        assertThat(report.exit()).as(report.output()).isZero();
        assertThat(report.figures()).containsEntry("ended", 200L);
        assertThat(Files.readString(loaded))
                .contains("limit.Permits ", "limit.KeyTurns ", "limit.PermitLevel ")
                .doesNotContain(
                        "PermitLease$Leased", "virtualthread.cluster.", "org.springframework.data", "java.sql.");
    }

    /** Calls that wait, with keys and without, under a limit and one within it. */
    static final class Calls {

        private Calls() {}

        public static void main(String[] arguments) {
            LimitSettings around = LimitSettings.of("db", 2);
            LimitSettings within =
                    LimitSettings.of("report", 1).withWithin("db").withPermitsPerKey(1);
            try (TestEngine test = new TestEngine(around, within)) {
                VirtualThreads threads = new VirtualThreads(test.engine, (spec, failure) -> {});
                long ended = 0;
                for (int i = 0; i < 50; i++) {
                    var plain = threads.submit("db", () -> 1);
                    var inner = threads.submit("report", () -> 1);
                    var keyed = threads.forKey("acme").submit("report", () -> 1);
                    var other = threads.forKey("bolt").submit("db", () -> 1);
                    ended += plain.join() + inner.join() + keyed.join() + other.join();
                }
                test.limits.get("db").resize(3);
                test.limits.get("report").occupy().close();
                ChildProgram.tell("ended", ended);
            }
        }
    }
}
