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
 * After a run, to write page and README anew from {@code docs/experiments.json}: {@code -Dexperiments.write=true}.
 */
@SampleTest
class ExperimentsPageTests {

    private static final Path DOCS = Path.of("..", "docs");
    private static final Path README = Path.of("..", "README.md");

    @BeforeAll
    static void write(@Autowired JsonMapper json) throws IOException {
        if (Boolean.getBoolean("experiments.write")) {
            Report report = json.readValue(Files.readString(DOCS.resolve("experiments.json")), Report.class);
            Files.writeString(DOCS.resolve("experiments.md"), ExperimentsPage.of(report));
            Files.writeString(README, ReadmeTable.in(Files.readString(README), report));
        }
    }

    @Test
    void thePageOfTheDocumentationIsWhatWasMeasured(@Autowired JsonMapper json, @Autowired Lab lab) throws IOException {
        Report report = json.readValue(Files.readString(DOCS.resolve("experiments.json")), Report.class);

        assertThat(Files.readString(DOCS.resolve("experiments.md"))).isEqualTo(ExperimentsPage.of(report));
        assertThat(report.experiments())
                .allSatisfy(entry -> assertThat(entry.failure()).isNull());
        assertThat(report.experiments().stream().map(Report.Entry::id).distinct())
                .isEqualTo(lab.experiments().stream().map(About::id).toList());
    }

    @Test
    void readmeShowsWhatTheExperimentOnAScarceResourceHasFound(@Autowired JsonMapper json) throws IOException {
        Report report = json.readValue(Files.readString(DOCS.resolve("experiments.json")), Report.class);
        String readme = Files.readString(README);

        assertThat(readme)
                .as("README.md; to write it anew: mvn test -Dtest=ExperimentsPageTests -Dexperiments.write=true")
                .isEqualTo(ReadmeTable.in(readme, report));
        assertThat(ReadmeTable.of(report).lines().filter(line -> line.startsWith("|")))
                .hasSizeLessThanOrEqualTo(8);
    }

    @Test
    void aPageWithoutTheMarksIsRefused() {
        Report none = new Report(machine(), List.of());

        assertThatThrownBy(() -> ReadmeTable.in(
                        "<!-- end of experiment scarce-resource -->\n<!-- experiment scarce-resource -->\n", none))
                .hasMessage(
                        "The page must have a line <!-- experiment scarce-resource --> and after it a line <!-- end of experiment scarce-resource -->");
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
    void ofSeveralRunsEachHasItsOwnFiguresAndASettingInItsHead() {
        String page = page(entry(100, "fixed pool of 10"), entry(10_000, "@VirtualThread"));

        assertThat(page)
                .contains("## 1. Title: tasks 100\n", "## 1. Title: tasks 10,000\n")
                .contains("| fixed pool of 10 | 5.50; published: 10,117 |")
                .contains("| @VirtualThread | 5.50; published: 1,050 |")
                .doesNotContain("10,117 with", "1,050 with");
    }

    @Test
    void aFigureWithoutACellIsToldOnceWhereItsSettingsWereRunElseAtTheEnd() {
        List<String> runs = List.of(
                page(entry(100, "fixed pool of 10"), entry(10_000, "@VirtualThread"), entry(50, "fixed pool of 10"))
                        .split("## 1\\. "));

        String cached = "- Published for millis 1,000, tasks 10,000: 2,100 with cached pool of at most 2,000,";
        assertThat(runs.get(2)).contains(cached);
        assertThat(runs.get(3)).doesNotContain(cached);
        String many = "- Published for millis 1,000, tasks 5,000,000: 37,600 with @VirtualThread,";
        assertThat(runs.get(3)).contains(many).contains("- The cached pools of the others");
        assertThat(runs.get(1) + runs.get(2)).doesNotContain(many).doesNotContain("- The cached pools of the others");
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
                                    Parameter::mostInTerminal)
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
        Map<String, Integer> settings = Map.of("tasks", tasks, "millis", 1_000);
        return new Report.Entry(
                "pool-or-virtual", "1", "Title", "Question?", "Anything.", settings, answer, List.of(), null);
    }
}
