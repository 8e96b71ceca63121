package io.github.virtualthread.docs.observing;

import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import io.github.virtualthread.docs.Pages;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.Yaml;

/** Alert rules and dashboard, as Prometheus reads them. */
@Timeout(300)
@EnabledIf(
        value = "isInstalledOrRequired",
        disabledReason = "promtool is not installed (Debian has it in its package prometheus);"
                + " with -Dpromtool.required=true that is a failure")
class PromtoolTests {

    private static final Path RULES = Pages.ROOT.resolve("docs/prometheus-rules.yml");
    private static final Path RULES_TEST = Path.of("src/test/prometheus/rules-test.yml");
    private static final Pattern LABEL_VALUES = Pattern.compile("label_values\\((.*), \\w+\\)");
    private static final Pattern METER = Pattern.compile("virtual_thread_\\w+");

    @TempDir
    private Path directory;

    static boolean isInstalledOrRequired() {
        return Boolean.getBoolean("promtool.required")
                || Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
                        .anyMatch(each -> Files.isExecutable(Path.of(each, "promtool")));
    }

    @Test
    void theRulesAreValid() throws Exception {
        promtool("check", "rules", RULES.toString());
    }

    @Test
    void theRulesFireWhenTheyShould() throws Exception {
        promtool("test", "rules", RULES_TEST.toString());
    }

    @Test
    void everyAlertIsSeenToFireAndSeenNotTo() {
        List<String> fires = alertTests()
                .filter(each -> each.containsKey("exp_alerts"))
                .map(each -> String.valueOf(each.get("alertname")))
                .toList();
        List<String> doesNot = alertTests()
                .filter(each -> !each.containsKey("exp_alerts"))
                .map(each -> String.valueOf(each.get("alertname")))
                .toList();

        assertThat(alerts()).isNotEmpty().allSatisfy(alert -> {
            assertThat(fires).contains(alert);
            assertThat(doesNot).contains(alert);
        });
    }

    @Test
    void everyExpressionOfTheDashboardIsValid() throws Exception {
        List<String> expressions = new ArrayList<>(dashboard("$.panels[*].targets[*].expr"));
        for (String query : PromtoolTests.<String>dashboard("$.templating.list[*].query.query")) {
            Matcher values = LABEL_VALUES.matcher(query);
            assertThat(values.matches()).as(query).isTrue();
            expressions.add(values.group(1));
        }
        assertThat(expressions).hasSizeGreaterThan(20);
        List<Map<String, String>> rules = new ArrayList<>();
        for (String expression : expressions) {
            rules.add(Map.of("record", "dashboard:" + rules.size(), "expr", withoutVariables(expression)));
        }

        promtool("check", "rules", file(Map.of("groups", List.of(Map.of("name", "dashboard", "rules", rules)))));
    }

    /** Two applications, whose limits and methods have the same names; one of them is chosen. */
    @Test
    void noPanelMixesApplications() throws Exception {
        List<String> expressions = dashboard("$.panels[*].targets[*].expr");
        List<Map<String, String>> series = METER.matcher(String.join(" ", expressions))
                .results()
                .map(MatchResult::group)
                .distinct()
                .flatMap(meter -> Stream.of("shop", "mail").map(application -> meter + """
                        {application="%s", instance="a", limit="db", method="Prices.find", \
                        outcome="error", exception="IOException", reason="QUEUE_FULL", le="+Inf"}""".formatted(application)))
                .map(each -> Map.of("series", each, "values", "_x20 1+1x20"))
                .toList();
        List<Map<String, Object>> expected = expressions.stream()
                .map(expression -> withoutVariables(expression.replace("$application", "shop")))
                .map(expression -> Map.of(
                        "expr",
                        "count by (application) (%s)".formatted(expression),
                        "eval_time",
                        "30m",
                        "exp_samples",
                        List.of(Map.of("labels", "{application=\"shop\"}", "value", 1))))
                .toList();
        assertThat(expected).hasSizeGreaterThan(20);

        testRules(series, expected);
    }

    @Test
    void whatIsChosenBoundsTheNextChoices() throws IOException {
        List<String> names = dashboard("$.templating.list[?(@.type == 'query')].name");
        List<String> queries = dashboard("$.templating.list[?(@.type == 'query')].query.query");

        assertThat(names).containsExactly("application", "instance", "limit", "method");
        for (int at = 0; at < names.size(); at++) {
            String query = queries.get(at);
            assertThat(names.subList(0, at))
                    .allSatisfy(name -> assertThat(query).contains("%1$s=~\"$%1$s\"".formatted(name)));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"Failures", "Rejected calls", "Stuck calls", "Pinned threads"})
    void aPanelShowsWhatASeriesBeginsWith(String panel) throws Exception {
        assertShown(panel, "_x20 1x10", "21m", 1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Failures", "Rejected calls"})
    void aPanelShowsNothingNewAfterAScrapeGap(String panel) throws Exception {
        assertShown(panel, "7x10 _x20 7x10", "32m", 0);
    }

    /** How many series each expression of a panel shows, above zero, where all series of the meters have these values. */
    private void assertShown(String panel, String values, String at, int shown) throws Exception {
        List<Map<String, String>> series = Stream.of(
                        "virtual_thread_tasks_seconds_count{outcome=\"error\", ",
                        "virtual_thread_rejected_total{reason=\"QUEUE_FULL\", ",
                        "virtual_thread_tasks_stuck{",
                        "virtual_thread_stuck_total{",
                        "virtual_thread_pinned_seconds_sum{",
                        "virtual_thread_pinned_seconds_max{")
                .map(name -> name + "instance=\"a\", limit=\"db\", method=\"Prices.find\"}")
                .map(name -> Map.of("series", name, "values", values))
                .toList();
        List<Map<String, Object>> expected =
                PromtoolTests.<String>dashboard("$.panels[?(@.title == '%s')].targets[*].expr".formatted(panel))
                        .stream()
                        .map(expression -> "count((%s) > 0) or vector(0)".formatted(withoutVariables(expression)))
                        .map(expression -> Map.of(
                                "expr",
                                expression,
                                "eval_time",
                                at,
                                "exp_samples",
                                List.of(Map.of("labels", "{}", "value", shown))))
                        .toList();
        assertThat(expected).isNotEmpty();

        testRules(series, expected);
    }

    private void testRules(List<Map<String, String>> series, List<Map<String, Object>> expected) throws Exception {
        Map<String, Object> test = Map.of("interval", "1m", "input_series", series, "promql_expr_test", expected);
        promtool("test", "rules", file(Map.of("tests", List.of(test))));
    }

    private static String withoutVariables(String expression) {
        return expression.replace("$__rate_interval", "4m0s").replaceAll("\\$\\w+", ".*");
    }

    private String file(Object yaml) throws IOException {
        return Files.writeString(directory.resolve("made.yml"), new Yaml().dump(yaml))
                .toString();
    }

    private void promtool(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("promtool"));
        command.addAll(List.of(arguments));
        File output = directory.resolve("output").toFile();
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output)
                .start();
        int exit = process.waitFor();

        assertThat(exit).as(Files.readString(output.toPath())).isZero();
    }

    private static List<String> alerts() {
        Map<String, List<Map<String, List<Map<String, Object>>>>> file = yaml(RULES);
        return file.get("groups").stream()
                .flatMap(group -> group.get("rules").stream())
                .map(rule -> String.valueOf(rule.get("alert")))
                .toList();
    }

    private static Stream<Map<String, Object>> alertTests() {
        Map<String, List<Map<String, List<Map<String, Object>>>>> file = yaml(RULES_TEST);
        return file.get("tests").stream().flatMap(test -> test.getOrDefault("alert_rule_test", List.of()).stream());
    }

    private static <T> T yaml(Path file) {
        return new Yaml().load(String.join("\n", Pages.lines(file)));
    }

    private static <T> List<T> dashboard(String path) throws IOException {
        return JsonPath.parse(Pages.ROOT.resolve("docs/grafana-dashboard.json").toFile())
                .read(path);
    }
}
