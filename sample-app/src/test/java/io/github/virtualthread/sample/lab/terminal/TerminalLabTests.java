package io.github.virtualthread.sample.lab.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Lab;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.DefaultApplicationArguments;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@SampleTest
class TerminalLabTests {

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

    @Autowired
    private Lab lab;

    @Autowired
    private JsonMapper json;

    @TempDir
    private Path directory;

    @Test
    void itPrintsTheTableAndWritesResultsAndReport() throws Exception {
        int code = run("--lab=pool-or-virtual", "--lab.tasks=20", "--lab.millis=20", "--lab.rounds=1");

        assertThat(printed())
                .contains("1. Pool or virtual threads", "Round 1 of 1: @VirtualThread")
                .containsPattern("until all are\\n +done, ms +threads\\n")
                .contains("20 tasks of 20 ms took ");
        assertThat(code).isZero();
        JsonNode results = json.readTree(Files.readString(directory.resolve("results.json")));
        assertThat(results.at("/machine/cores").asInt())
                .isEqualTo(Runtime.getRuntime().availableProcessors());
        assertThat(results.at("/experiments/0/settings/tasks").asInt()).isEqualTo(20);
        double millis =
                results.at("/experiments/0/answer/rows/0/figures/millis/median").asDouble();
        assertThat(millis).isGreaterThanOrEqualTo(40);
        assertThat(Files.readString(directory.resolve("report.html")))
                .contains("<svg", "<td>%s</td>".formatted(Answer.number(millis)))
                .contains("<polyline")
                .doesNotContain("<script", "http://", "https://");
        assertThat(Files.readString(directory.resolve("experiments.md")))
                .contains("| fixed pool of 10 | %s | 10 |".formatted(Answer.number(millis)))
                .contains("- Published for millis 1,000, tasks 100: 10,117 with fixed pool of 10,");
    }

    @Test
    void whatThereIsNotIsNamed() {
        assertThat(run("--lab=pools")).isEqualTo(2);
        assertThat(printed()).contains("--lab: there is no experiment 'pools', only all and pool-or-virtual");
    }

    @Test
    void aMisspeltParameterRunsNothing() {
        assertThat(run("--lab=pool-or-virtual", "--lab.task=20")).isEqualTo(2);
        assertThat(printed())
                .contains(
                        "--lab.task is no parameter of these experiments; they have [lab.millis, lab.rounds, lab.tasks]");
    }

    @Test
    void aValueOutOfBoundsIsToldAndEndsWithACode() {
        assertThat(run("--lab=pool-or-virtual", "--lab.tasks=0")).isEqualTo(2);
        assertThat(printed()).contains("--lab.tasks must be a whole number from 1 to 5,000,000, was '0'");
    }

    @Test
    void onThePublishedScaleAnExperimentRunsOnceForEachOfTheirSettings() throws Exception {
        int code = run("--lab=pool-or-virtual", "--lab.scale=published", "--lab.tasks=10", "--lab.millis=10");

        assertThat(code).isZero();
        assertThat(printed()).contains("  millis 10, rounds 1, tasks 10\n");
        JsonNode entries = json.readTree(Files.readString(directory.resolve("results.json")))
                .at("/experiments");
        assertThat(entries).hasSize(5).allSatisfy(entry -> {
            assertThat(entry.at("/settings/rounds").asInt()).isOne();
            assertThat(entry.at("/settings/tasks").asInt()).isEqualTo(10);
        });
    }

    @Test
    void nothingRunsWhereALaterExperimentCannot() {
        assertThat(run("--lab=pool-or-virtual,exploding-pool", "--lab.watch=601"))
                .isEqualTo(2);
        assertThat(printed()).isEqualToIgnoringNewLines("--lab.watch must be a whole number from 1 to 600, was '601'");
    }

    @Test
    void anUnknownScaleIsNamed() {
        assertThat(run("--lab=pool-or-virtual", "--lab.scale=large")).isEqualTo(2);
        assertThat(printed()).contains("--lab.scale must be one of [small, normal, published], was 'large'");
    }

    @Test
    void withoutTheOptionNothingIsAskedFor() {
        assertThat(TerminalLab.isAskedFor(new DefaultApplicationArguments("--server.port=0")))
                .isFalse();
        assertThat(TerminalLab.isAskedFor(new DefaultApplicationArguments("--lab")))
                .isTrue();
    }

    private int run(String... arguments) {
        return terminal(arguments).run();
    }

    private TerminalLab terminal(String... arguments) {
        PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8);
        return new TerminalLab(lab, new DefaultApplicationArguments(arguments), json, out, directory);
    }

    private String printed() {
        return printed.toString(StandardCharsets.UTF_8);
    }
}
