package io.github.virtualthread.sample.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.SampleTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.web.servlet.client.RestTestClient;
import org.yaml.snakeyaml.Yaml;

/** What the page on load testing asks for is served while no experiment runs. */
@SampleTest
class LoadTestingPageTests {

    private static final Path DOCS = Path.of("docs");
    private static final Pattern PATH = Pattern.compile("/lab/[\\w/{}-]+(\\?millis=\\d+)?");
    private static final Pattern WAY = Pattern.compile("WAY=([\\w-]+)");

    @Test
    void everyAddressOfThePageIsAnswered(@Autowired RestTestClient client) throws IOException {
        String page = Files.readString(DOCS.resolve("load-testing.md"));
        List<String> addresses = addresses(page);

        assertThat(addresses).hasSizeGreaterThan(10);
        for (String address : addresses) { // without the wait
            client.get()
                    .uri(address.replaceFirst("=\\d+", "=1"))
                    .exchange()
                    .expectStatus()
                    .isOk();
        }
    }

    @Test
    void locustAsksForWhatThePageNames() throws IOException {
        String page = Files.readString(DOCS.resolve("load-testing.md"));
        String users = Files.readString(DOCS.resolve("locustfile.py"));

        assertThat(addresses(users)).hasSize(4).allSatisfy(address -> assertThat(addresses(page))
                .anyMatch(known -> known.startsWith(address.replaceFirst("\\{WAY}.*", ""))));
        assertThat(Pattern.compile("--tags (\\w+)").matcher(page).results().map(tag -> tag.group(1)))
                .isNotEmpty()
                .allSatisfy(tag -> assertThat(users).contains("@tag(\"%s\")".formatted(tag)));
        assertThat(WAY.matcher(page).results().map(way -> way.group(1)))
                .isNotEmpty()
                .allSatisfy(way -> assertThat(page).containsPattern("/lab/(flood|scarce)/" + way + "\\b"));
    }

    /** Containers are not started here, and the page says so. */
    @Test
    void theComposeFileIsSaidToBeUntriedAndAsksTheSample(@Autowired RestTestClient client) throws IOException {
        String compose = Files.readString(DOCS.resolve("compose.yaml"));
        Map<String, Map<String, Object>> read = new Yaml().load(compose);

        assertThat(compose).contains("This file has not been run.");
        assertThat(Files.readString(DOCS.resolve("load-testing.md"))).contains("Neither of these has been run here.");
        assertThat(read.get("services")).containsOnlyKeys("sample", "locust", "prometheus", "grafana");
        assertThat(compose)
                .contains("metrics_path: /actuator/prometheus")
                .contains("SAMPLE_HOSTS: sample ")
                .contains("--host http://sample:8080")
                .contains("targets: [\"sample:8080\"]");
        client.get().uri("/actuator/prometheus").exchange().expectStatus().isOk();
    }

    private static List<String> addresses(String text) {
        return PATH.matcher(text).results().map(MatchResult::group).distinct().toList();
    }
}
