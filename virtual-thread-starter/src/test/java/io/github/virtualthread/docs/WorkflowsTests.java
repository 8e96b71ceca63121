package io.github.virtualthread.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.Yaml;

/** A build runs code of plugins and dependencies: in a workflow it has no right but to read, and no secret. */
@Timeout(300)
class WorkflowsTests {

    @ParameterizedTest
    @ValueSource(strings = {"build.yml", "nightly.yml", "release.yml", "site.yml"})
    void aJobThatBuildsHasNoRightsAndNoSecrets(String workflow) throws IOException {
        assertThat(jobs(workflow))
                .filteredOn(WorkflowsTests::builds)
                .isNotEmpty()
                .allSatisfy(job -> assertThat(job)
                        .containsEntry("permissions", Map.of("contents", "read"))
                        .doesNotContainKey("environment")
                        .extracting(Map::toString)
                        .asString()
                        .doesNotContain("secrets."));
    }

    @Test
    void aKeyAndATokenAreInOneStepEach() throws IOException {
        for (String secret : List.of("secrets.GPG_KEY", "secrets.CENTRAL_PASSWORD")) {
            assertThat(jobs("release.yml").stream()
                            .flatMap(job -> ((List<?>) job.get("steps")).stream())
                            .filter(step -> step.toString().contains(secret)))
                    .as(secret)
                    .hasSize(1);
        }
    }

    @Test
    void everyActionIsPinned() throws IOException {
        try (Stream<Path> workflows = Files.list(Pages.ROOT.resolve(".github/workflows"))) {
            assertThat(workflows.flatMap(file -> Pages.lines(file).stream()).filter(line -> line.contains("uses: ")))
                    .isNotEmpty()
                    .allMatch(line -> line.matches(" +(- )?uses: [\\w./-]+@[0-9a-f]{40} # v[\\d.]+"));
        }
    }

    private static boolean builds(Map<String, Object> job) {
        String steps = job.get("steps").toString();
        return steps.contains("mvn ") || steps.contains("run=.ci/");
    }

    private static List<Map<String, Object>> jobs(String workflow) {
        Map<String, Map<String, Map<String, Object>>> read = new Yaml()
                .load(String.join(
                        "\n",
                        Pages.lines(Pages.ROOT.resolve(".github/workflows").resolve(workflow))));
        return List.copyOf(read.get("jobs").values());
    }
}
