package io.github.virtualthread.sample.lab.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.lab.About;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Lab;
import io.github.virtualthread.sample.lab.Report;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import tools.jackson.databind.json.JsonMapper;

@SampleTest
class ExperimentsPageTests {

    private static final Path DOCS = Path.of("..", "docs");

    @Test
    void thePageOfTheDocumentationIsWhatWasMeasured(@Autowired JsonMapper json, @Autowired Lab lab) throws IOException {
        Report report = json.readValue(Files.readString(DOCS.resolve("experiments.json")), Report.class);

        assertThat(Files.readString(DOCS.resolve("experiments.md"))).isEqualTo(ExperimentsPage.of(report));
        assertThat(report.experiments())
                .allSatisfy(entry -> assertThat(entry.failure()).isNull())
                .extracting(Report.Entry::id)
                .isEqualTo(lab.experiments().stream().map(About::id).toList());
    }

    @Test
    void aPublishedFigureStandsBesideOneOfTheSameSettings() {
        assertThat(page(Map.of("tasks", 100, "millis", 1_000)))
                .contains("| fixed pool of 10 | 5.50; published: 10,117 |")
                .contains("- Published for millis 1,000, tasks 10,000: 2,100 with cached pool of at most 2,000,");
        assertThat(page(Map.of("tasks", 99, "millis", 1_000)))
                .contains("| fixed pool of 10 | 5.50 |")
                .contains(
                        "- Published for millis 1,000, tasks 100: 10,117 with fixed pool of 10, in the unit of the column"
                                + " \"until all are done, ms\"");
    }

    @Test
    void everyPublishedFigureIsOfAnExperimentThatThereIs(@Autowired Lab lab) {
        List<String> ids = lab.experiments().stream().map(About::id).toList();

        assertThat(Published.ALL).isNotEmpty().allSatisfy(each -> assertThat(ids)
                .contains(each.experiment()));
    }

    private static String page(Map<String, Integer> settings) {
        Answer answer = new Answer(
                "It took a while.",
                List.of(new Answer.Column("millis", "until all are done", "ms")),
                List.of(new Answer.Row("fixed pool of 10", Map.of("millis", new Answer.Figure(5.5, 5.5, 5.5)))),
                List.of(),
                List.of());
        Report.Entry entry = new Report.Entry(
                "pool-or-virtual", "1", "Title", "Question?", "Anything.", settings, answer, List.of(), null);
        Report.Machine machine = new Report.Machine(2, 1_024, "25", "Linux", LocalDate.of(2026, 1, 2));
        return ExperimentsPage.of(new Report(machine, List.of(entry)));
    }
}
