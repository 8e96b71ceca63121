package com.acme.shop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
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
    @MethodSource("modules")
    void theClassesAndTheSettingsAreAsExpected(Path module) throws IOException {
        Map<String, String> expected = files(module.resolve("before"));
        Map<String, String> changes = files(module.resolve("after"));
        expected.putAll(changes);

        assertThat(files(module.resolve("src"))).isEqualTo(expected);
        assertThat(changes).isNotEmpty();
    }

    @ParameterizedTest
    @MethodSource("modules")
    void theStarterIsADependency(Path module) throws IOException {
        assertThat(Files.readString(module.resolve("pom.xml")).replaceAll("\\s", ""))
                .containsOnlyOnce("<groupId>io.github.virtualthread</groupId>"
                        + "<artifactId>virtual-thread-starter</artifactId>"
                        + "<version>" + System.getProperty("expected.starter") + "</version></dependency>");
    }

    static List<Path> modules() throws IOException {
        try (Stream<Path> files = Files.list(Path.of(".."))) {
            List<Path> modules =
                    files.filter(file -> Files.exists(file.resolve("after"))).toList();
            assertThat(modules).hasSize(12);
            return modules;
        }
    }

    @Test
    void theApplicationStartsAndItsMethodsRunOnVirtualThreads(CapturedOutput output) throws Exception {
        try (ConfigurableApplicationContext shop = SpringApplication.run(ShopApplication.class)) {
            assertThat(output)
                    .contains("5 annotated methods, 0 of them without a limit")
                    .contains("mailExecutor (4 permits, unbounded queue, ")
                    .contains("pool (6 permits, unbounded queue, ")
                    .contains("reportExecutor (2 permits, queue of 50, ");

            Mailer mailer = shop.getBean(Mailer.class);
            assertThat(mailer.confirm().get(2, TimeUnit.MINUTES)).startsWith("confirmation on VirtualThread[");
            assertThat(mailer.remind().get(2, TimeUnit.MINUTES)).startsWith("reminder on VirtualThread[");
            assertThat(shop.getBean(Reports.class).weekly().get(2, TimeUnit.MINUTES))
                    .startsWith("weekly report on VirtualThread[");
            assertThat(shop.getBean(Audit.class).record().get(2, TimeUnit.MINUTES))
                    .startsWith("recorded on Thread[");
        }
    }

    @Test
    void aProfileThatChangesThePoolOfSpringBootChangesTheLimit(CapturedOutput output) {
        try (ConfigurableApplicationContext shop =
                SpringApplication.run(ShopApplication.class, "--spring.profiles.active=test")) {
            assertThat(shop.isRunning()).isTrue();
            assertThat(output).contains("pool (2 permits, unbounded queue, ");
        }
    }

    private static Map<String, String> files(Path directory) throws IOException {
        Map<String, String> texts = new TreeMap<>();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                texts.put(directory.relativize(file).toString(), Files.readString(file));
            }
        }
        return texts;
    }
}
