package io.github.virtualthread.sample.lab.terminal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.lab.About;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Lab;
import io.github.virtualthread.sample.lab.Parameter;
import io.github.virtualthread.sample.lab.Report;
import io.github.virtualthread.sample.lab.Settings;
import io.github.virtualthread.sample.lab.Settings.Scale;
import io.github.virtualthread.sample.lab.terminal.Claims.Claim;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import tools.jackson.databind.json.JsonMapper;

/**
 * After a run, to write page and README anew from {@code sample-app/docs/experiments.json}: {@code -Dexperiments.write=true}.
 */
@SampleTest
class ExperimentsPageTests {

    private static final Path DOCS = Path.of("docs");
    private static final Path PAGE = DOCS.resolve("experiments.md");
    private static final Path RESULTS = DOCS.resolve("results.txt");
    private static final Path README = Path.of("..", "README.md");

    @BeforeAll
    static void write(@Autowired JsonMapper json) throws IOException {
        if (Boolean.getBoolean("experiments.write")) {
            Report report = json.readValue(Files.readString(DOCS.resolve("experiments.json")), Report.class);
            Files.writeString(RESULTS, ResultsFile.of(report));
            Files.writeString(PAGE, ExperimentsPage.in(Files.readString(PAGE), report));
            Files.writeString(README, ReadmeTable.in(Files.readString(README), report));
        }
    }

    @Test
    void thePageOfTheDocumentationIsWhatWasMeasured(@Autowired JsonMapper json, @Autowired Lab lab) throws IOException {
        Report report = json.readValue(Files.readString(DOCS.resolve("experiments.json")), Report.class);

        String page = Files.readString(PAGE);
        assertThat(page)
                .as("experiments.md; to write it anew: mvn test -Dtest=ExperimentsPageTests -Dexperiments.write=true")
                .isEqualTo(ExperimentsPage.in(page, report));
        assertThat(report.experiments())
                .allSatisfy(entry -> assertThat(entry.failure()).isNull());
        assertThat(report.experiments().stream().map(Report.Entry::id).distinct())
                .isEqualTo(lab.experiments().stream().map(About::id).toList());
    }

    @Test
    void aHeadlineHasAtMostFortyWords(@Autowired JsonMapper json) throws IOException {
        Report report = json.readValue(Files.readString(DOCS.resolve("experiments.json")), Report.class);

        assertThat(report.experiments())
                .allSatisfy(entry -> assertThat(entry.answer().sentence().split(" "))
                        .as(entry.id())
                        .hasSizeLessThanOrEqualTo(Answer.MOST_WORDS));
    }

    @Test
    void allFiguresAreInTheResults(@Autowired JsonMapper json) throws IOException {
        Report report = json.readValue(Files.readString(DOCS.resolve("experiments.json")), Report.class);

        assertThat(Files.readString(RESULTS)).isEqualTo(ResultsFile.of(report));
    }

    @Test
    void everyClaimOfTheFiveArticlesHasItsAnswer(@Autowired Lab lab) {
        assertThat(Claims.ALL.stream().collect(Collectors.groupingBy(Claim::article, Collectors.counting())))
                .isEqualTo(Map.of("000", 12L, "001", 10L, "002", 5L, "003", 8L, "004", 7L));
        assertThat(Claims.ALL).allSatisfy(claim -> {
            assertThat(Claim.KINDS).anyMatch(kind -> claim.answer().startsWith(kind));
            assertThat(lab.experiments().stream().map(About::id))
                    .anyMatch(id ->
                            claim.experiment().isEmpty() || claim.experiment().equals(id));
        });
    }

    @Test
    void readmeShowsWhatOnlyThisStarterDoes(@Autowired JsonMapper json) throws IOException {
        Report report = json.readValue(Files.readString(DOCS.resolve("experiments.json")), Report.class);
        String readme = Files.readString(README);

        assertThat(readme)
                .as("README.md; to write it anew: mvn test -Dtest=ExperimentsPageTests -Dexperiments.write=true")
                .isEqualTo(ReadmeTable.in(readme, report));
        assertThat(ReadmeTable.of(report).lines().filter(line -> line.startsWith("|")))
                .hasSize(5);
    }

    @Test
    void aPageWithoutTheMarksIsRefused() {
        assertThatThrownBy(() -> MarkedPart.in("<!-- end of figures -->\n<!-- figures -->\n", "figures", "text"))
                .hasMessage("The page must have a line <!-- figures --> and after it a line <!-- end of figures -->");
    }

    @Test
    void aPublishedFigureStandsBesideTheOneOfItsSettings() {
        assertThat(page(entry(100, "fixed pool of 10"))).contains("| fixed pool of 10 | 5.50; published: 10,117 |");
        assertThat(page(entry(99, "fixed pool of 10")))
                .contains("| fixed pool of 10 | 5.50 |")
                .contains(
                        "- Published for millis 1,000, tasks 100: 10,117 with fixed pool of 10, in the unit of the column"
                                + " \"until all are done, ms\"");
    }

    @Test
    void ofSeveralRunsEachHasItsOwnFiguresAndASettingInItsRows() {
        String page = page(entry(100, "fixed pool of 10"), entry(10_000, "@VirtualThread"));

        assertThat(page)
                .containsOnlyOnce("## Title\n")
                .contains("| tasks | | until all are done, ms |")
                .contains("| 100 | fixed pool of 10 | 5.50; published: 10,117 |")
                .contains("| 10,000 | @VirtualThread | 5.50; published: 1,050 |")
                .contains("All of these runs had: millis 1,000.\n")
                .doesNotContain("10,117 with", "1,050 with");
    }

    @Test
    void aPublishedFigureWithoutACellIsReportedOnce() {
        String page =
                page(entry(100, "fixed pool of 10"), entry(10_000, "@VirtualThread"), entry(50, "fixed pool of 10"));

        assertThat(page)
                .containsOnlyOnce(
                        "- Published for millis 1,000, tasks 10,000: 2,100 with cached pool of at most 2,000,")
                .containsOnlyOnce("- Published for millis 1,000, tasks 5,000,000: 37,600 with @VirtualThread,")
                .containsOnlyOnce("- The cached pools of the published figures");
    }

    @Test
    void theFirstTableComparesTwoContendersOfEachExperiment(@Autowired JsonMapper json, @Autowired Lab lab)
            throws IOException {
        Report report = json.readValue(Files.readString(DOCS.resolve("experiments.json")), Report.class);

        assertThat(Headline.ALL.stream().map(Headline::experiment).distinct())
                .isEqualTo(lab.experiments().stream().map(About::id).toList());
        assertThat(Headline.ALL).allSatisfy(headline -> assertThat(report.experiments().stream()
                        .filter(entry -> entry.id().equals(headline.experiment()))
                        .findFirst()
                        .flatMap(headline::cells))
                .as(headline.toString())
                .hasValueSatisfying(cells -> assertThat(cells).hasSize(3)));
    }

    @Test
    void columnsInWhichNothingWasCountedAreNamedBelowTheTable() {
        Answer answer = new Answer(
                "It took a while.",
                List.of(new Answer.Column("millis", "until all are done", "ms"), new Answer.Column("lost", "lost", "")),
                List.of(new Answer.Row(
                        "one", Map.of("millis", new Answer.Figure(5.5, 5.5, 5.5), "lost", new Answer.Figure(0, 0, 0)))),
                List.of(),
                List.of("Said by one."));

        assertThat(page(entry(100, answer)))
                .contains("| | until all are done, ms |\n", "| one | 5.50 |\n", "\nIn all rows 0: lost.\n");
        assertThat(page(entry(100, answer), entry(99, "one")))
                .contains("| tasks | | until all are done, ms | lost |\n", "- With tasks 100: Said by one.\n");
    }

    @Test
    void everyPublishedRunIsWithinTheBoundsOfItsExperiment(@Autowired Lab lab) {
        Map<String, About> known = lab.experiments().stream().collect(Collectors.toMap(About::id, about -> about));

        assertThat(PublishedRun.ALL).allSatisfy(run -> {
            Map<String, String> chosen = new HashMap<>();
            run.settings().forEach((name, value) -> chosen.put(name, value.toString()));
            assertThat(known).containsKey(run.experiment());
            assertThat(Settings.of(
                                    known.get(run.experiment()).parameters(),
                                    chosen,
                                    Scale.NORMAL,
                                    Parameter::mostInTerminal,
                                    Parameter::name)
                            .values())
                    .containsAllEntriesOf(run.settings());
        });
    }

    @Test
    void everyFigureOfKnownSettingsHasARun() {
        for (Published figure : Published.ALL) {
            assertThat(PublishedRun.ALL)
                    .as(figure.toString())
                    .anyMatch(run -> run.experiment().equals(figure.experiment())
                            && run.settings()
                                    .entrySet()
                                    .containsAll(figure.settings().entrySet()));
        }
    }

    @Test
    void everyPublishedFigureIsOfAnExperimentThatThereIs(@Autowired Lab lab) {
        List<String> ids = lab.experiments().stream().map(About::id).toList();

        assertThat(Published.ALL).isNotEmpty().allSatisfy(each -> assertThat(ids)
                .contains(each.experiment()));
    }

    private static String page(Report.Entry... entries) {
        return ExperimentsPage.of(Report.of(machine(), List.of(entries)));
    }

    private static Report.Machine machine() {
        return new Report.Machine(2, 1_024, "25", "Linux", LocalDate.of(2026, 1, 2));
    }

    private static Report.Entry entry(int tasks, String row) {
        Answer answer = new Answer(
                "It took a while.",
                List.of(new Answer.Column("millis", "until all are done", "ms")),
                List.of(new Answer.Row(row, Map.of("millis", new Answer.Figure(5.5, 5.5, 5.5)))),
                List.of(),
                List.of());
        return entry(tasks, answer);
    }

    private static Report.Entry entry(int tasks, Answer answer) {
        Map<String, Integer> settings = Map.of("tasks", tasks, "millis", 1_000);
        return new Report.Entry(
                "pool-or-virtual", "1", "Title", "Question?", "Anything.", settings, answer, List.of(), null);
    }
}
