package io.github.virtualthread.docs.startupchecks;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.aop.WithoutParameterNames;
import io.github.virtualthread.autoconfigure.VirtualThreadAsyncAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadClientAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadClusterAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadDoorAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadWebFluxAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadWebMvcAutoConfiguration;
import io.github.virtualthread.docs.Pages;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.AbstractApplicationContextRunner;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;

/**
 * A user who searches for a message finds it: the page, or the file beside the tests that it links, has what an application
 * really says. The page has one example of each kind, the file all others. The applications are in {@code start-up-mistakes.yml}
 * and {@code start-up-warnings.yml}, their classes in {@link Acme}. After a change of messages
 * {@code -Dstart-up-checks.write=true} writes the reports of both pages anew.
 */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class StartUpChecksPageTests {

    private static final Path PAGE = Pages.ROOT.resolve("docs/start-up-checks.md");
    private static final Path MORE =
            Pages.ROOT.resolve("virtual-thread-starter/src/test/resources/more-start-up-reports.md");
    private static final boolean WRITES = Boolean.getBoolean("start-up-checks.write");
    private static final Pattern MISTAKES = Pattern.compile("<!-- mistakes: (.+) -->\n```text\n[^`]*```");
    private static final Map<String, String> WRITTEN = new ConcurrentHashMap<>();

    /** On the pages the nested classes are those of a package. */
    private static final String NESTED = Acme.class.getName() + "$";

    static List<Start> mistakes() throws IOException {
        return starts("/start-up-mistakes.yml");
    }

    static List<Start> warnings() throws IOException {
        return starts("/start-up-warnings.yml");
    }

    private static List<Start> starts(String file) throws IOException {
        LoaderOptions strict = new LoaderOptions();
        strict.setAllowDuplicateKeys(false);
        try (InputStream yaml = StartUpChecksPageTests.class.getResourceAsStream(file)) {
            Map<String, Map<String, Object>> starts = new Yaml(strict).load(yaml);
            return starts.entrySet().stream()
                    .map(start -> Start.of(start.getKey(), start.getValue()))
                    .toList();
        }
    }

    @ParameterizedTest
    @MethodSource("mistakes")
    void theReportIsOnThePage(Start start) {
        start.runner().run(context -> {
            String report = report(context.getStartupFailure());
            if (WRITES) {
                WRITTEN.put(start.name(), report);
            } else {
                assertThat(report).isEqualTo(texts("mistakes").get(start.name()));
            }
        });
    }

    @ParameterizedTest
    @MethodSource("warnings")
    void theWarningIsOnThePage(Start start, CapturedOutput output) {
        start.runner().run(context -> assertThat(context.getStartupFailure()).isNull());

        Map<String, String> texts = texts("log");
        assertThat(names(start.name()))
                .allSatisfy(name -> assertThat(named(output.getAll())).containsOnlyOnce(texts.get(name)));
    }

    @Test
    void thePagesHaveTheTextOfEachStartAndNoOthers() throws IOException {
        assertThat(texts("mistakes").keySet())
                .containsExactlyInAnyOrderElementsOf(
                        mistakes().stream().map(Start::name).toList());
        assertThat(texts("log").keySet())
                .containsExactlyInAnyOrderElementsOf(warnings().stream()
                        .flatMap(start -> names(start.name()))
                        .toList());
    }

    @AfterAll
    static void writeTheReports() throws IOException {
        if (!WRITES) {
            return;
        }
        for (Path file : List.of(PAGE, MORE)) {
            Files.writeString(file, MISTAKES.matcher(Files.readString(file)).replaceAll(block -> {
                String reports = names(block.group(1)).map(WRITTEN::get).collect(joining("\n\n"));
                return Matcher.quoteReplacement(
                        "<!-- mistakes: %s -->\n```text\n%s\n```".formatted(block.group(1), reports));
            }));
        }
    }

    private static String report(Throwable failure) {
        List<FailureAnalyzer> analyzers = SpringFactoriesLoader.forDefaultResourceLocation()
                .load(FailureAnalyzer.class, FailureHandler.handleMessage((message, cause) -> {}));
        FailureAnalysis analysis = analyzers.stream()
                .map(analyzer -> analyzer.analyze(failure))
                .filter(Objects::nonNull)
                .findFirst()
                .orElseThrow(() -> new AssertionError("no analysis", failure));
        String place = " \\(\"[^\"]+\" from property source \"test\"\\)";
        return named("%s\nAction: %s"
                        .formatted(
                                analysis.getDescription().strip(),
                                analysis.getAction().strip()))
                .replaceAll(place, " (place)");
    }

    private static String named(String text) {
        return text.replace(NESTED, "com.acme.").replaceAll("Acme\\.java:\\d+", "Newsroom.java:42");
    }

    /** The texts of the pages by their names: a block has those that the line above it names, a blank line between them. */
    private static Map<String, String> texts(String directive) {
        Map<String, String> texts = new HashMap<>();
        Stream.of(PAGE, MORE)
                .flatMap(page -> Pages.blocks(page).stream())
                .filter(block -> block.directive().equals(directive))
                .forEach(block -> {
                    Iterator<String> each = List.of(block.text().split("\n\n")).iterator();
                    names(block.argument()).forEach(name -> assertThat(texts.put(name, each.next()))
                            .as("another text of the name %s", name)
                            .isNull());
                    assertThat(each).as(block.where()).isExhausted();
                });
        return texts;
    }

    private static Stream<String> names(String list) {
        return Stream.of(list.split(", "));
    }

    /** An application, as the files have it. */
    record Start(String name, String without, List<String> beans, Map<String, String> properties) {

        static Start of(String name, Map<String, Object> written) {
            Map<String, String> properties = new LinkedHashMap<>();
            written.forEach((key, value) ->
                    properties.put(key.replace("[com.acme.", "[" + NESTED), value == null ? "" : value.toString()));
            String without = properties.remove("without");
            String beans = Objects.requireNonNullElse(properties.remove("beans"), "Nothing");
            return new Start(name, without, names(beans).toList(), properties);
        }

        AbstractApplicationContextRunner<?, ?, ?> runner() {
            AbstractApplicationContextRunner<?, ?, ?> runner = plain().withConfiguration(AutoConfigurations.of(
                            VirtualThreadAutoConfiguration.class,
                            VirtualThreadAsyncAutoConfiguration.class,
                            VirtualThreadClientAutoConfiguration.class,
                            VirtualThreadClusterAutoConfiguration.class,
                            VirtualThreadDoorAutoConfiguration.class,
                            VirtualThreadWebMvcAutoConfiguration.class,
                            VirtualThreadWebFluxAutoConfiguration.class))
                    .withUserConfiguration(beans.stream().map(Start::type).toArray(Class<?>[]::new))
                    .withPropertyValues(properties.entrySet().stream()
                            .map(property -> property.getKey() + "=" + property.getValue())
                            .toArray(String[]::new));
            return without == null ? runner : runner.withClassLoader(new FilteredClassLoader(without));
        }

        private AbstractApplicationContextRunner<?, ?, ?> plain() {
            return switch (properties.getOrDefault("spring.main.web-application-type", "none")) {
                case "servlet" -> new WebApplicationContextRunner();
                case "reactive" -> new ReactiveWebApplicationContextRunner();
                default -> new ApplicationContextRunner();
            };
        }

        private static Class<?> type(String bean) {
            try {
                Class<?> type = Class.forName(NESTED + bean);
                return type == Acme.Letters.class ? WithoutParameterNames.of(type) : type;
            } catch (ClassNotFoundException missing) {
                throw new IllegalArgumentException(missing);
            }
        }

        @Override
        public String toString() {
            return name;
        }
    }
}
