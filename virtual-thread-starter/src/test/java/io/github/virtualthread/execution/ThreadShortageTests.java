package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The system gives a JVM no more threads: {@code ulimit -u} bounds them. It does not bind root, for whom the JVM runs as a user
 * that nobody else is.
 */
@Timeout(value = 20, unit = TimeUnit.MINUTES)
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
@Tag("jdk")
class ThreadShortageTests {

    private static final long SECONDS = Long.getLong("shortage.seconds", 4);
    private static final int MORE_THREADS = 100;
    private static final AtomicInteger USERS = new AtomicInteger();

    /** What a stop may need at once, and what else the JVM may start meanwhile. */
    private static final long MOST = 64 + 6;

    @ParameterizedTest
    @EnumSource
    void aShortageOfThreadsCostsNothingForGood(ThreadShortage.Before before) throws Exception {
        ChildJvm jvm = bounded();
        if (before != ThreadShortage.Before.ALL_CALLS) {
            jvm.withCarriers(1); // there from the start on: where the JDK cannot add one, its pool may stay broken
        }
        ChildJvm.Report report = jvm.run("calls", before, SECONDS);
        System.out.println(before + " " + report.figures());
        assumeBounded(report);
        ChildProgram.assertNothingLost(report);
        ChildProgram.assertFigures(report, Map.of("open futures of evicted calls", 0L));
    }

    @Test
    void aStopWithoutThreadsCompletesEveryFuture() throws Exception {
        ChildJvm.Report report = bounded().run("stop");
        System.out.println("stop " + report.figures());
        assumeBounded(report);
        assertAllAreTold(report);
        ChildProgram.assertFigures(report, Map.of("permits lost", 0L));
    }

    @Test
    void aStopWithoutThreadsAndCarriersCompletesEveryFuture() throws Exception {
        ChildJvm.Report report =
                bounded().withCarriers(CarrierShortage.CARRIERS).run("carriers", true);
        System.out.println("stop without carriers " + report.figures());
        assumeBounded(report);
        assertAllAreTold(report);
    }

    @Test
    void aStopWithoutCarriersNeedsFewThreads() throws Exception {
        ChildJvm.Report report = new ChildJvm(ThreadShortage.class)
                .withCarriers(CarrierShortage.CARRIERS)
                .run("carriers", false);
        System.out.println("carriers " + report.figures());
        assertAllAreTold(report);
        assertThat(report.figures().get("threads for the stop")).isLessThanOrEqualTo(MOST);
    }

    private static void assertAllAreTold(ChildJvm.Report report) {
        ChildProgram.assertFigures(
                report, Map.of("stops that failed", 0L, "open futures after the stop", 0L, "never idle", 0L));
    }

    /** A JVM whose threads are bounded, by whatever is there. */
    private static ChildJvm bounded() throws IOException, InterruptedException {
        List<String> command = command();
        Assumptions.assumeTrue(command != null, "no bound of threads to be had: neither setpriv nor ulimit -u");
        return new ChildJvm(ThreadShortage.class)
                .startedBy(command)
                .with(
                        "-XX:+UseSerialGC",
                        "-XX:-UsePerfData",
                        "-Xlog:disable"); // a line for each thread that is not to be had
    }

    /** Null where there is none. */
    private static List<String> command() throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        String bound = String.valueOf(MORE_THREADS);
        if (isRoot()) {
            // no capability but the one to read the class path wherever it is
            // not that of another of these programs, nor of another run of these tests: the bound is that of the user
            long user = 50_000 + (ProcessHandle.current().pid() * 16 + USERS.incrementAndGet()) % 10_000;
            command.addAll(List.of("setpriv", "--reuid=" + user, "--regid=" + user, "--clear-groups"));
            command.addAll(List.of("--inh-caps=-all,+dac_override", "--ambient-caps=-all,+dac_override"));
            command.add("--bounding-set=-all,+dac_override");
        } else {
            // the other threads of this user count too, and there are no more than all
            bound = "$(($(ls -d /proc/[0-9]*/task/[0-9]* | wc -l) + " + bound + "))";
        }
        command.addAll(List.of("bash", "-c", "ulimit -u " + bound + " && exec \"$0\" \"$@\""));
        return isBounded(command) ? command : null;
    }

    private static boolean isRoot() {
        return System.getProperty("user.name").equals("root");
    }

    private static boolean isBounded(List<String> command) throws InterruptedException {
        List<String> tried = new ArrayList<>(command);
        tried.add("true");
        try {
            return Files.isDirectory(Path.of("/proc/self/task"))
                    && new ProcessBuilder(tried).inheritIO().start().waitFor() == 0;
        } catch (IOException noSuchCommand) {
            return false;
        }
    }

    /** Else the bound does not bind. */
    private static void assumeBounded(ChildJvm.Report report) {
        Assumptions.assumeFalse(
                Long.valueOf(0).equals(report.figures().get("threads refused")),
                "no bound of threads to be had: ulimit -u does not bind this user");
    }
}
