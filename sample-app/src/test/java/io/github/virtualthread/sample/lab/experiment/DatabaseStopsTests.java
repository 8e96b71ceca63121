package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.lab.About;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Line;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Experiment;
import io.github.virtualthread.sample.lab.Lab;
import io.github.virtualthread.sample.lab.LabRun;
import io.github.virtualthread.sample.lab.LabRun.Point;
import io.github.virtualthread.sample.lab.Measurement;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Settings;
import io.github.virtualthread.sample.lab.Settings.Scale;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.core.io.ClassPathResource;

/** With the database of the plain start; other servers are in {@link DatabaseServerTest}. */
@SampleTest
class DatabaseStopsTests {

    private static final String ID = "database-stops";

    @Autowired
    private Lab lab;

    @Autowired
    private TaskLimits limits;

    @Autowired
    @Qualifier("scarcePool")
    private ScarcePool pool;

    @Test
    @Tag("slow")
    void byDefaultItShowsTheThingItself() throws Exception {
        Answer answer = lab.start(
                        ID, Map.of("connections", "2", "waves", "3", "seconds", "3", "rounds", "1"), Scale.SMALL)
                .answer()
                .get(5, TimeUnit.MINUTES);

        assertThat(answer.notes()).anyMatch(note -> note.startsWith("The database is PostgreSQL 17."));
        assertThat(answer.right()).isEqualTo(DatabaseStops.BY_INTERRUPT);
        assertThat(answer.row(DatabaseStops.INTERRUPT).median(StoppedQueries.MOST.key()))
                .isGreaterThan(2);
        Row queryTimeout = answer.row(DatabaseStops.QUERY_TIMEOUT);
        assertThat(queryTimeout.median(StoppedQueries.MOST.key())).isPositive().isLessThanOrEqualTo(2);
        assertThat(queryTimeout.median(StoppedQueries.BACK.key())).isGreaterThan(900);
        assertAllIsAsBefore();
    }

    @Test
    @Tag("slow")
    void onH2ThereIsNoVerdictAndTheCardSaysSoBeforeTheRun(
            @Autowired SlowQueries queries, @Value("${scarce.timeout}") String timeout) throws Exception {
        RealServer real = new RealServer(new H2Server(), () -> {
            throw new IllegalStateException("no program for this system");
        });
        Experiment experiment = new DatabaseStops(queries, pool, real, limits, timeout);
        assertThat(experiment.about().question()).endsWith("where it does not start, there is no verdict.");
        Settings settings = Settings.of(
                experiment.about().parameters(),
                Map.of("connections", "2", "waves", "1", "seconds", "1", "rounds", "1"),
                Scale.SMALL);

        Answer answer = experiment.run(new Run(settings, new Unwatched()));

        assertThat(experiment.about().question())
                .contains(
                        "PostgreSQL does not start here (java.lang.IllegalStateException: no program for this system)")
                .contains("On H2 there is no verdict");

        assertThat(answer.rows())
                .extracting(Row::name)
                .containsExactly(DatabaseStops.INTERRUPT, DatabaseStops.STATEMENT, DatabaseStops.QUERY_TIMEOUT)
                .allSatisfy(name -> {
                    Row row = answer.row(name);
                    assertThat(row.median(StoppedQueries.MOST.key())).as(name).isLessThanOrEqualTo(2);
                    assertThat(row.median(StoppedQueries.LEFT.key())).as(name).isZero();
                    assertThat(row.median(StoppedQueries.LOST.key())).as(name).isZero();
                    assertThat(row.median(StoppedQueries.BACK.key())).as(name).isPositive();
                    assertThat(row.median(StoppedQueries.QUICK_FAILED.key()))
                            .as(name)
                            .isZero();
                });
        assertThat(answer.right()).isEmpty();
        assertThat(answer.open()).isEqualTo(DatabaseStops.H2_SHOWS_NOTHING);
        assertThat(answer.sentence() + answer.notes().getFirst())
                .contains(DatabaseStops.H2_SHOWS_NOTHING)
                .doesNotContain("The limit held");
        assertThat(answer.notes()).anyMatch(note -> note.startsWith("The database is H2 2."));
        assertThat(answer.charts().getFirst().lines())
                .extracting(Line::name)
                .containsExactly(
                        DatabaseStops.INTERRUPT, Line.PERMITS, DatabaseStops.STATEMENT, DatabaseStops.QUERY_TIMEOUT);
        assertThat(answer.charts().getFirst().lines().get(1).points())
                .allSatisfy(point -> assertThat(point[1]).isEqualTo(2));
        assertAllIsAsBefore();
    }

    @Test
    @Tag("slow")
    void aCancelledRunLeavesNoCall(@Autowired VirtualThreads threads) throws Exception {
        CountDownLatch drawn = new CountDownLatch(2);
        LabRun run = lab.start(ID, Map.of("waves", "20", "seconds", "1", "rounds", "10"), Scale.SMALL);
        run.listen(event -> {
            if (event instanceof Point) {
                drawn.countDown();
            }
        });
        assertThat(drawn.await(2, TimeUnit.MINUTES)).isTrue();

        run.cancel();

        assertThat(run.answer().handle((answer, failure) -> failure != null))
                .succeedsWithin(2, TimeUnit.MINUTES)
                .isEqualTo(true);
        assertThat(threads.awaitIdle(Duration.ofMinutes(2))).isTrue();
        assertAllIsAsBefore();
    }

    private void assertAllIsAsBefore() {
        assertThat(pool.connections()).isEqualTo(100);
        assertThat(limits.get("scarce").permits()).isEqualTo(100);
        await().atMost(Duration.ofMinutes(2))
                .untilAsserted(
                        () -> assertThat(limits.get("scarce").available()).isEqualTo(100));
    }

    @Test
    void theSentenceSaysWhatHeld() {
        assertThat(DatabaseStops.sentence(rows(24, 24, 4, 0), 4, ""))
                .isEqualTo(
                        "With 4 permits, the server ran up to 24 queries at once when the timeout interrupted the call,"
                                + " and up to 4 when it cancelled the statement. The interrupt alone did not keep the limit"
                                + " in the database. Sessions lost: 24 and 0. The median permit was back after 204 ms and 204 ms; with a query timeout of JDBC,"
                                + " which counts whole seconds, after 204 ms, and the server ran up to 4.");
        assertThat(DatabaseStops.sentence(rows(4, 0, 4, 0), 4, ""))
                .contains(" The limit held in the database either way. Sessions lost: 0 and 0. ");
        assertThat(DatabaseStops.sentence(rows(24, 24, 5, 1), 4, ""))
                .contains(" The limit did not hold in the database either way. Sessions lost: 24 and 1. ");
        assertThat(DatabaseStops.sentence(rows(4, 0, 5, 1), 4, ""))
                .contains(" The limit held in the database with the interrupt, but not with the cancelled statement. ");
    }

    @Test
    void oneRoundThatExceedsThePermitsIsEnough() {
        Row statement = Row.of(DatabaseStops.STATEMENT, List.of(measured(4, 0), measured(5, 1), measured(4, 0)));
        List<Row> rows =
                List.of(row(DatabaseStops.INTERRUPT, 24, 24), statement, row(DatabaseStops.QUERY_TIMEOUT, 4, 0));

        assertThat(DatabaseStops.right(rows, 4)).isEqualTo(DatabaseStops.ALWAYS);
        assertThat(DatabaseStops.sentence(rows, 4, "")).contains("and up to 5 when it cancelled the statement");
        assertThat(DatabaseStops.left(rows)).contains("and up to 1 with the cancelled statement");
    }

    @Test
    void theNoteSaysWhatTheLimitNoLongerCounted() {
        assertThat(DatabaseStops.left(rows(4, 0, 4, 0)))
                .isEqualTo("When all permits were back, no query was left in the server.");
        assertThat(DatabaseStops.left(rows(24, 24, 4, 0)))
                .contains(
                        "24 queries were left in the server with the interrupt, and up to 0 with the cancelled statement");
        assertThat(DatabaseStops.left(rows(4, 0, 5, 1)))
                .contains(
                        "0 queries were left in the server with the interrupt, and up to 1 with the cancelled statement");
    }

    /** As many are left as sessions are lost. */
    private static List<Row> rows(int byInterrupt, int lostByInterrupt, int byStatement, int lostByStatement) {
        return List.of(
                row(DatabaseStops.INTERRUPT, byInterrupt, lostByInterrupt),
                row(DatabaseStops.STATEMENT, byStatement, lostByStatement),
                row(DatabaseStops.QUERY_TIMEOUT, 4, 0));
    }

    private static Row row(String name, int most, int lost) {
        return Row.of(name, List.of(measured(most, lost)));
    }

    private static Measurement measured(int most, int lost) {
        return Measurement.of("most", most).and("left", lost).and("lost", lost).and("back", 203.7);
    }

    @Test
    void theSettingsShownAreThoseOfTheApplication() throws Exception {
        String yml = new ClassPathResource("application.yml").getContentAsString(StandardCharsets.UTF_8);
        List<String> settings = yml.lines()
                .map(line -> line.replaceFirst("#.*", "").stripTrailing())
                .toList();
        About about = lab.experiments().stream()
                .filter(each -> each.id().equals(ID))
                .findFirst()
                .orElseThrow();

        assertThat(settings).containsAll(about.yml().lines().toList());
    }
}
