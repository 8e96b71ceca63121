package io.github.virtualthread.sample.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.lab.About;
import io.github.virtualthread.sample.lab.Lab;
import java.io.IOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;

/** The page on claims sends its readers to experiments that there are, and is right about Spring Boot. */
@SampleTest
class ClaimsPageTests {

    private static final Path PAGE = Path.of("docs", "experiments.md");

    @Test
    void everyExperimentItNamesIsThere(@Autowired Lab lab) throws IOException {
        List<String> named = Pattern.compile("`--lab=([\\w-]+)`")
                .matcher(Files.readString(PAGE))
                .results()
                .map(found -> found.group(1))
                .toList();

        assertThat(lab.experiments()).extracting(About::id).containsAll(named);
        assertThat(named).hasSizeGreaterThan(5);
    }

    @Test
    void springBootHasTheOnePropertyAndNotTheOther() throws IOException {
        List<URL> files = Collections.list(
                getClass().getClassLoader().getResources("META-INF/spring-configuration-metadata.json"));
        StringBuilder metadata = new StringBuilder();
        for (URL file : files) {
            try (var stream = file.openStream()) {
                metadata.append(new String(stream.readAllBytes(), StandardCharsets.UTF_8));
            }
        }
        List<String> names = Pattern.compile("\"name\": *\"([\\w.-]+)\"")
                .matcher(metadata)
                .results()
                .map(MatchResult::group)
                .toList();

        assertThat(names)
                .anyMatch(name -> name.contains("\"spring.threads.virtual.enabled\""))
                .anyMatch(name -> name.contains("\"server.tomcat.threads.max\""))
                .noneMatch(name -> name.contains("server.tomcat.use-virtual-threads"));
    }
}
