package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Answer.Line;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Lab;
import io.github.virtualthread.sample.lab.LabRun;
import io.github.virtualthread.sample.lab.LabRun.Point;
import io.github.virtualthread.sample.lab.Measurement;
import io.github.virtualthread.sample.lab.Ranges;
import io.github.virtualthread.sample.lab.Settings.Scale;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.web.server.context.WebServerApplicationContext;

@SampleTest
class ClientGoneTests {

    private static final String ID = "client-gone";

    @Autowired
    private Lab lab;

    /** 10 clients for 5 connections: without cancel-abandoned, 5 queries begin after the clients have left. */
    @Test
    @Tag("slow")
    @EnabledOnOs(OS.LINUX)
    void onlyBothPropertiesEndTheQueries(@Autowired WebServerApplicationContext context) throws Exception {
        Leftovers leftovers = new Leftovers(context);

        Answer answer = lab.start(ID, Map.of(), Scale.SMALL).answer().get(10, TimeUnit.MINUTES);

        assertThat(answer.notes()).anyMatch(note -> note.startsWith("The database is PostgreSQL 17."));
        for (String name : List.of(ClientGone.NEITHER, ClientGone.STATEMENTS)) {
            Row row = answer.row(name);
            assertThat(figure(row, AbandonedTrial.GONE)).as(name).isGreaterThan(3); // a whole query
            assertThat(figure(row, AbandonedTrial.BEGUN)).as(name).isEqualTo(5);
            assertThat(figure(row, AbandonedTrial.LOST)).as(name).isZero();
        }
        // more than 5 if one that waited got a permit before it was ended too
        Row abandoned = answer.row(ClientGone.ABANDONED);
        assertThat(figure(abandoned, AbandonedTrial.LOST)).isGreaterThanOrEqualTo(5);
        Row both = answer.row(ClientGone.BOTH);
        assertThat(figure(both, AbandonedTrial.LOST)).isZero();
        assertThat(figure(both, AbandonedTrial.LEFT)).isZero();
        assertThat(figure(both, AbandonedTrial.GONE))
                .isLessThan(figure(answer.row(ClientGone.NEITHER), AbandonedTrial.GONE));
        assertThat(answer.charts().getFirst().lines())
                .extracting(Line::name)
                .containsExactly(ClientGone.NEITHER, ClientGone.STATEMENTS, ClientGone.ABANDONED, ClientGone.BOTH);
        assertThat(answer.charts().getFirst().lines()).allSatisfy(line -> {
            assertThat(line.points()).as(line.name()).anyMatch(point -> point[1] == 5);
            assertThat(line.points().getLast()[1]).as(line.name()).isZero();
        });
        leftovers.assertNone();
    }

    private static double figure(Row row, Column column) {
        return row.median(column.key());
    }

    @Test
    @Tag("slow")
    void aCancelledRunLeavesNoServer(@Autowired WebServerApplicationContext context) throws Exception {
        Leftovers leftovers = new Leftovers(context);
        CountDownLatch drawn = new CountDownLatch(4); // at intervals: by now requests are served
        LabRun run = lab.start(ID, Map.of(), Scale.SMALL);
        run.listen(event -> {
            if (event instanceof Point) {
                drawn.countDown();
            }
        });
        assertThat(drawn.await(5, TimeUnit.MINUTES)).isTrue();

        run.cancel();

        assertThat(run.answer().handle((answer, failure) -> failure != null))
                .succeedsWithin(Duration.ofMinutes(2))
                .isEqualTo(true);
        leftovers.assertNone();
    }

    @Test
    void theSentenceHasAllFour() {
        assertThat(ClientGone.sentence(rows(11, 3, 0.6), 50, 4, ""))
                .isEqualTo(
                        "50 clients left before their query of 4 s was done. The database went on for 11 s with neither"
                                + " property, 11 s with cancel-statements, 3 s with cancel-abandoned, 0.60 s with both.");
        assertThat(ClientGone.sentence(rows(11, 3, 0.6), 50, 4, DatabaseStops.H2_SHOWS_NOTHING))
                .endsWith(" s with both. " + DatabaseStops.H2_SHOWS_NOTHING);
    }

    @Test
    void theFiguresDecideWhichGuessIsRight() {
        assertThat(right(11, 3, 0.6)).isEqualTo(ClientGone.TOGETHER);
        assertThat(right(11, 0.6, 0.6)).isEqualTo(ClientGone.ALONE);
        assertThat(right(11, 11, 11)).isEqualTo(ClientGone.ALL_ARE_DONE);
        assertThat(right(11, 0.6, 3)).isEmpty();
        assertThat(right(3, 3, 11)).isEmpty();
    }

    private static String right(double neither, double abandoned, double both) {
        return ClientGone.right(rows(neither, abandoned, both), new Ranges(3));
    }

    @Test
    void aNoteSaysWhyTheOnePropertyNeedsTheOther() {
        assertThat(ClientGone.interrupts(rows(11, 3, 0.6)))
                .contains("20 sessions were lost, and 15 queries were still in the database")
                .endsWith("With both it was 0 and 0.");
    }

    /** With cancel-statements alone as with neither; sessions are lost with cancel-abandoned alone. */
    private static List<Row> rows(double neither, double abandoned, double both) {
        return List.of(
                row(ClientGone.NEITHER, neither, 0, 0),
                row(ClientGone.STATEMENTS, neither, 0, 0),
                row(ClientGone.ABANDONED, abandoned, 20, 15),
                row(ClientGone.BOTH, both, 0, 0));
    }

    private static Row row(String name, double gone, int lost, int left) {
        return Row.of(
                name, List.of(Measurement.of("gone", gone).and("lost", lost).and("left", left)));
    }
}
