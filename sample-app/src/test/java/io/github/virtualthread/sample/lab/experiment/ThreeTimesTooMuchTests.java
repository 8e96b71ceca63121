package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Line;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Lab;
import io.github.virtualthread.sample.lab.LabRun;
import io.github.virtualthread.sample.lab.LabRun.Point;
import io.github.virtualthread.sample.lab.Settings.Scale;
import io.github.virtualthread.sample.lab.experiment.OverloadServer.Way;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;

@SampleTest
@Tag("slow")
class ThreeTimesTooMuchTests {

    private static final String ID = "three-times-too-much";

    @Autowired
    private Lab lab;

    @Test
    void theCostOfARefusalIsNeverBelowZero() {
        assertThat(OverloadTrial.each(3_000_000, 600)).isEqualTo(5);
        assertThat(OverloadTrial.each(-716_000, 1)).isZero();
        assertThat(OverloadTrial.each(1_000, 0)).isEqualTo(1);
    }

    /** The pool does 100 requests per second, and 500 come. A queue of them all is as long as a deadline after a quarter of a second. */
    @Test
    void onlyWhoRefusesEarlyDoesInTimeWhatCanBeDone() throws Throwable {
        KeptTime.during(() -> {
            Answer answer = lab.start(
                            ID,
                            Map.of(
                                    "load",
                                    "500",
                                    "places",
                                    "10",
                                    "millis",
                                    "100",
                                    "deadline",
                                    "1000",
                                    "wait",
                                    "400",
                                    "seconds",
                                    "3"),
                            Scale.SMALL)
                    .answer()
                    .get(10, TimeUnit.MINUTES);

            List<String> names = Stream.of(Way.values()).map(Way::label).toList();
            assertThat(answer.rows())
                    .extracting(Row::name)
                    .containsExactlyElementsOf(names)
                    .allSatisfy(name -> assertThat(figure(answer, name, Tally.FAILED.key()))
                            .as(name)
                            .isZero());
            double early = figure(answer, Way.HOPELESS, DeadlineTally.IN_TIME.key());
            assertThat(early).isPositive();
            assertThat(figure(answer, Way.BULKHEAD, DeadlineTally.IN_TIME.key()))
                    .isPositive();
            for (Way way : List.of(Way.NO_LIMIT, Way.DEADLINE, Way.LONG_QUEUE, Way.TOMCAT)) {
                assertThat(figure(answer, way, DeadlineTally.IN_TIME.key()))
                        .as(way.label())
                        .isLessThan(early / 2);
            }
            assertThat(told(answer, Way.HOPELESS)).isLessThan(told(answer, Way.DEADLINE));
            assertThat(told(answer, Way.LONG_QUEUE)).isLessThan(told(answer, Way.DEADLINE));
            assertThat(told(answer, Way.BULKHEAD)).isGreaterThanOrEqualTo(400);
            assertThat(told(answer, Way.DEADLINE)).isGreaterThanOrEqualTo(1_000);
            assertThat(told(answer, Way.NO_LIMIT)).isGreaterThanOrEqualTo(1_000);
            Row tomcat = answer.row(Way.TOMCAT.label());
            assertThat(tomcat.figures()).doesNotContainKeys(DoorTally.TOLD.key(), OverloadTrial.EACH.key());
            assertThat(tomcat.median(Tally.TIMED_OUT.key())).isPositive();
            assertThat(answer.row(Way.HOPELESS.label()).figures()).containsKey(OverloadTrial.EACH.key());
            assertThat(answer.charts().getFirst().lines())
                    .extracting(Line::name)
                    .containsExactlyElementsOf(names);
            assertThat(answer.right()).isEqualTo(ThreeTimesTooMuch.MORE);
            assertThat(answer.sentence()).startsWith("Of 500 requests per second, 100 can be done. Done in time: ");
            assertNoJvmIsLeft();
        });
    }

    @Test
    void underHalfOfTheLoadNobodyIsRefusedByALimit() throws Exception {
        Answer answer = lab.start(
                        ID,
                        Map.of("load", "50", "millis", "100", "deadline", "5000", "wait", "5000", "seconds", "1"),
                        Scale.SMALL)
                .answer()
                .get(10, TimeUnit.MINUTES);

        assertThat(answer.rows()).allSatisfy(row -> {
            assertThat(row.median(DoorTally.REFUSED.key())).as(row.name()).isZero();
            assertThat(row.median(DeadlineTally.LATE.key())).as(row.name()).isZero();
            assertThat(row.figures()).as(row.name()).doesNotContainKey(OverloadTrial.EACH.key());
        });
    }

    @Test
    void aCancelledRunLeavesNoJvm() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        LabRun run = lab.start(ID, Map.of("seconds", "20"), Scale.SMALL);
        run.listen(event -> {
            if (event instanceof Point) {
                asked.countDown();
            }
        });
        assertThat(asked.await(5, TimeUnit.MINUTES)).isTrue();

        run.cancel();

        assertThat(run.answer().handle((answer, failure) -> failure != null))
                .succeedsWithin(2, TimeUnit.MINUTES)
                .isEqualTo(true);
        assertNoJvmIsLeft();
    }

    private static void assertNoJvmIsLeft() {
        assertThat(ProcessHandle.current()
                        .children()
                        .map(child -> child.info().commandLine().orElse(""))
                        .filter(command -> command.contains(OverloadServer.class.getName())))
                .isEmpty();
    }

    private static double told(Answer answer, Way way) {
        return figure(answer, way, DoorTally.TOLD.key());
    }

    private static double figure(Answer answer, Way way, String key) {
        return figure(answer, way.label(), key);
    }

    private static double figure(Answer answer, String name, String key) {
        return answer.row(name).median(key);
    }
}
