package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Experiment;
import io.github.virtualthread.sample.lab.Lab;
import io.github.virtualthread.sample.lab.LabRun;
import io.github.virtualthread.sample.lab.LabRun.Point;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Settings;
import io.github.virtualthread.sample.lab.Settings.Scale;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.annotation.Autowired;

@SampleTest
@Tag("slow")
class PinningDriverTests {

    /** 2 carriers do 20 queries a second, limits of 5 and 20 permits 50 and 200. */
    private static final Map<String, String> SETTINGS =
            Map.of("few", "5", "many", "20", "carriers", "2", "millis", "100", "seconds", "1", "rounds", "1");

    private final Set<ProcessHandle> before = ProcessHandle.current().children().collect(Collectors.toSet());

    @Autowired
    private Lab lab;

    @BeforeEach
    void isFreeHere() {
        assumeThat(Runtime.version().feature())
                .as("needs a Java on which synchronized does not pin")
                .isGreaterThanOrEqualTo(24);
    }

    @Test
    void onJava21TheCarriersAreTheLimitAndHereItIsTheLimit(@Autowired Java21 java21) throws Exception {
        assumeThat(java21.home()).as("needs a Java 21 beside this one").isPresent();

        Answer answer =
                lab.start("pinning-driver", SETTINGS, Scale.SMALL).answer().get(10, TimeUnit.MINUTES);

        List<Row> rows = answer.rows();
        assertThat(rows).hasSize(5);
        assertKeepsItsCarrier(rows.getLast());
        for (Row pinned : rows.subList(0, 2)) {
            assertThat(pinned.name()).startsWith("Java 2").doesNotStartWith("Java 25");
            assertRate(pinned, 20);
            assertThat(pinned.median("atOnce")).as(pinned.name()).isBetween(1.0, 2.0);
        }
        assertFollowsTheLimit(rows.subList(2, 4));
        for (Row row : rows) {
            assertThat(row.median("failed")).as(row.name()).isZero();
            assertThat(row.median("carriers")).as(row.name()).isBetween(1.0, 2.0);
        }
        assertThat(answer.sentence())
                .startsWith("2 carriers that pin do 20 queries per second. Measured: ")
                .contains(rows.get(1).name().replace(",", ""));
        assertThat(children()).isEmpty();
    }

    @Test
    void withoutAJava21OnlyThisOneIsMeasuredAndItSaysSo(@TempDir Path empty) throws Exception {
        Experiment experiment = new PinningDriver(new Java21("", Map.of(), empty, empty));
        Settings settings = Settings.of(experiment.about().parameters(), SETTINGS, Scale.SMALL);

        Answer answer = experiment.run(new Run(settings, new Unwatched()));

        assertFollowsTheLimit(answer.rows().subList(0, 2));
        assertKeepsItsCarrier(answer.rows().getLast());
        assertThat(answer.notes().getFirst())
                .startsWith("No Java 21, 22 or 23 was found, so only this one is measured")
                .contains("JAVA_HOME_21", "~/.jdks/*", "-Dlab.java-21=");
    }

    @Test
    void aCancelledRunLeavesNoProcess() throws Exception {
        CountDownLatch measured = new CountDownLatch(2);
        LabRun run = lab.start("pinning-driver", Map.of("seconds", "30"), Scale.SMALL);
        run.listen(event -> {
            if (event instanceof Point) {
                measured.countDown();
            }
        });
        assertThat(measured.await(2, TimeUnit.MINUTES)).isTrue();
        assertThat(children()).isNotEmpty();

        run.cancel();

        assertThat(run.answer().handle((answer, failure) -> failure != null))
                .succeedsWithin(2, TimeUnit.MINUTES)
                .isEqualTo(true);
        assertThat(children()).isEmpty();
    }

    private static void assertKeepsItsCarrier(Row row) {
        assertThat(row.name()).contains("native sleep");
        assertThat(row.median("atOnce")).isBetween(1.0, 2.0);
        assertRate(row, 20);
    }

    private static void assertFollowsTheLimit(List<Row> rows) {
        // more than the carriers; on a busy machine not all of them meet
        assertThat(rows.getFirst().median("atOnce")).isBetween(3.0, 5.0);
        assertThat(rows.getLast().median("atOnce")).isBetween(3.0, 20.0);
        assertRate(rows.getFirst(), 50);
        assertRate(rows.getLast(), 200);
    }

    /** More cannot be done, since no query ends early; how many less depends on the machine. */
    private static void assertRate(Row row, double most) {
        assertThat(row.median("rate")).as(row.name()).isPositive().isLessThanOrEqualTo(most);
    }

    private List<ProcessHandle> children() {
        return ProcessHandle.current()
                .children()
                .filter(child -> !before.contains(child))
                .toList();
    }
}
