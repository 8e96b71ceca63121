package com.acme.shop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

/** Runs after the recipe, but compiles before it, too: without the starter. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class MigrationTests {

    @Test
    void itRunsOnTheSpringBootAndTheJavaThatWereAskedFor() {
        assertThat(SpringBootVersion.getVersion()).isEqualTo(System.getProperty("expected.spring-boot"));
        String java = System.getProperty("expected.java");
        if (java == null || java.isBlank()) {
            assertThat(Runtime.version().feature()).isGreaterThanOrEqualTo(21);
        } else {
            assertThat(Runtime.version().feature()).hasToString(java);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shop", "store", "desk"})
    void theClassesAndTheSettingsAreAsExpected(String module) throws IOException {
        Map<String, String> moved = files(Path.of("..", module, "src/main"));

        assertThat(moved).isEqualTo(files(Path.of("..", module, "after"))).hasSizeGreaterThan(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"shop", "store", "desk"})
    void theStarterIsADependency(String module) throws IOException {
        assertThat(Files.readString(Path.of("..", module, "pom.xml")).replaceAll("\\s", ""))
                .containsOnlyOnce("<groupId>io.github.virtualthread</groupId>"
                        + "<artifactId>virtual-thread-starter</artifactId>"
                        + "<version>" + System.getProperty("expected.starter") + "</version></dependency>");
    }

    @Test
    void theApplicationStartsAndItsMethodsRunOnVirtualThreads(CapturedOutput output) throws Exception {
        try (ConfigurableApplicationContext shop = SpringApplication.run(ShopApplication.class)) {
            assertThat(output)
                    .contains("6 annotated methods, 0 of them without a limit")
                    .contains("bannerExecutor (6 permits, unbounded queue, ")
                    .contains("mailExecutor (4 permits, unbounded queue, ")
                    .contains("pool (6 permits, unbounded queue, ")
                    .contains("reportExecutor (5 permits, queue of 50, ");

            Mailer mailer = shop.getBean(Mailer.class);
            assertThat(mailer.confirm().get(2, TimeUnit.MINUTES)).startsWith("confirmation on VirtualThread[");
            assertThat(mailer.remind().get(2, TimeUnit.MINUTES)).startsWith("reminder on VirtualThread[");
            assertThat(shop.getBean(Reports.class).weekly().get(2, TimeUnit.MINUTES))
                    .startsWith("weekly report on VirtualThread[");
            assertThat(shop.getBean(Audit.class).record().get(2, TimeUnit.MINUTES))
                    .startsWith("recorded on Thread[");
        }
    }

    private static Map<String, String> files(Path directory) throws IOException {
        Map<String, String> texts = new TreeMap<>();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                texts.put(file.getFileName().toString(), Files.readString(file));
            }
        }
        return texts;
    }
}
