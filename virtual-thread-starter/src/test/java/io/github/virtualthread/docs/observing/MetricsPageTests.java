package io.github.virtualthread.docs.observing;

import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadMetricsAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadObservationAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadPinningAutoConfiguration;
import io.github.virtualthread.cluster.ClusterEngine;
import io.github.virtualthread.cluster.MemoryEngine;
import io.github.virtualthread.docs.Pages;
import io.github.virtualthread.execution.TaskCall;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.execution.TaskSpec;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.micrometer.core.instrument.Meter;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.metrics.MetricsAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.metrics.export.prometheus.PrometheusMetricsExportAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.PropertySource;
import org.yaml.snakeyaml.Yaml;

/** Table, rules and dashboard have the meters that there are, under the names that Prometheus reads. */
@Timeout(300)
class MetricsPageTests {

    private static final Pattern NAME = Pattern.compile("virtual_thread_[a-z_]+");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `(virtual\\.[a-z.]+)` \\| ([^|]*) ?\\| ([^|]+) \\|");

    /** Meters with tags, as in {@code virtual.thread.wait [method, limit]}. */
    private static final Set<String> METERS = new TreeSet<>();

    private static final Set<String> SCRAPED = new TreeSet<>();

    /** An application in which every meter has a value, with the histograms that the page switches on. */
    @BeforeAll
    static void scrape() {
        String yaml = Pages.blocks("yaml")
                .filter(block -> block.text().contains("percentiles-histogram"))
                .findFirst()
                .orElseThrow()
                .text();
        PropertySource<?> histograms = Pages.properties("page", yaml);
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        VirtualThreadAutoConfiguration.class,
                        VirtualThreadMetricsAutoConfiguration.class,
                        VirtualThreadObservationAutoConfiguration.class,
                        VirtualThreadPinningAutoConfiguration.class,
                        MetricsAutoConfiguration.class,
                        CompositeMeterRegistryAutoConfiguration.class,
                        PrometheusMetricsExportAutoConfiguration.class))
                .withPropertyValues(
                        "virtual-thread.limits.db.permits=1",
                        "virtual-thread.limits.db.queue-capacity=0",
                        "virtual-thread.limits.db.reject-hopeless=true",
                        "virtual-thread.limits.watched.permits=1",
                        "virtual-thread.limits.watched.dry-run=true",
                        "virtual-thread.jdbc.cancel-statements=true",
                        "spring.application.name=shop")
                .withInitializer(
                        context -> context.getEnvironment().getPropertySources().addFirst(histograms))
                .withBean(StuckAndPinned.class)
                .withBean(LimitSettings.class, () -> LimitSettings.of("partner", 20)
                        .withClusterPermits(20)
                        .withOnFailure(OnFailure.WAIT))
                .withBean(ClusterEngine.class, MemoryEngine::new)
                .run(context -> {
                    rejectOne(context.getBean(VirtualThreads.class));
                    callWithKey(context.getBean(TaskEngine.class));
                    context.getBean(VirtualThreads.class).call("watched", () -> "");
                    read(context.getBean(PrometheusMeterRegistry.class));
                });
    }

    private static void rejectOne(VirtualThreads threads) throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        var held = threads.submit("db", () -> release.await(2, TimeUnit.MINUTES));
        threads.submit("db", () -> "too many");
        release.countDown();
        held.get(2, TimeUnit.MINUTES);
    }

    private static void callWithKey(TaskEngine engine) throws Exception {
        TaskSpec spec = engine.keyed(engine.spec("Shop.report", "db"), "acme");
        engine.submit(spec, () -> "").get(2, TimeUnit.MINUTES);
    }

    /** A call that is held for stuck and pinned, as the watches would, without their waiting. */
    static final class StuckAndPinned implements TaskListener {

        private final ObjectProvider<TaskListener> listeners;

        StuckAndPinned(ObjectProvider<TaskListener> listeners) {
            this.listeners = listeners;
        }

        @Override
        public void finished(TaskCall call, Outcome outcome, @Nullable Throwable failure) {
            listeners.stream().filter(listener -> listener != this).forEach(listener -> {
                listener.stuck(call);
                listener.pinned(call.spec().name(), Duration.ofMillis(20));
            });
        }
    }

    private static void read(PrometheusMeterRegistry registry) {
        registry.getMeters().stream()
                .map(Meter::getId)
                .filter(id -> id.getName().startsWith("virtual.thread."))
                .forEach(id -> METERS.add(id.getName() + " "
                        + inOrder(id.getTags().stream().map(tag -> tag.getKey()).toList())));
        registry.scrape()
                .lines()
                .filter(line -> !line.startsWith("#"))
                .forEach(line -> SCRAPED.add(line.split("[{ ]")[0]));
    }

    @Test
    void theTableHasEveryMeterWithItsTags() {
        Pages.assertRows(
                "docs/observing.md",
                ROW,
                row -> "| `%s` | %s | ... | ... |"
                        .formatted(row.group(1), row.group(2).strip()),
                METERS.stream()
                        .map(meter -> meter.split(" ", 2))
                        .map(meter -> "| `%s` | %s | ... | ... |"
                                .formatted(
                                        meter[0],
                                        meter[1].replaceAll("[\\[\\]]", "").replaceAll("\\w+", "`$0`")))
                        .toList());
    }

    @Test
    void thePageSaysHowPrometheusNamesThem() {
        Set<String> documented = rows().flatMap(row -> {
                    String name = row.group(1).replace('.', '_');
                    return switch (row.group(3)) {
                        case "counter" -> Stream.of(name + "_total");
                        case "gauge" -> Stream.of(name);
                        case "gauge, seconds" -> Stream.of(name + "_seconds");
                        case "timer without a maximum, seconds" ->
                            Stream.of(name + "_seconds_count", name + "_seconds_sum");
                        default -> Stream.of(name + "_seconds_count", name + "_seconds_sum", name + "_seconds_max");
                    };
                })
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> scraped = SCRAPED.stream()
                .filter(name -> name.startsWith("virtual_thread_") && !name.endsWith("_bucket"))
                .collect(Collectors.toCollection(TreeSet::new));

        assertThat(documented).isEqualTo(scraped);
    }

    @Test
    void thePageSwitchesHistogramsOn() {
        assertThat(SCRAPED).contains("virtual_thread_tasks_seconds_bucket", "virtual_thread_wait_seconds_bucket");
    }

    @Test
    void theRulesAskForWhatIsThere() {
        List<String> expressions =
                rules().stream().map(rule -> String.valueOf(rule.get("expr"))).toList();

        assertThat(names(expressions)).isNotEmpty().isSubsetOf(SCRAPED);
    }

    @Test
    void thePageHasTheNumbersOfTheRules() {
        List<String> numbers = rules().stream()
                .map(rule -> String.valueOf(rule.get("expr"))
                        .replaceAll("(?s).*[<>]=? ", "")
                        .strip())
                .filter(number -> !number.equals("0"))
                .distinct()
                .toList();

        assertThat(numbers).hasSize(3).allSatisfy(number -> assertThat(Pages.text("docs/observing.md"))
                .containsPattern("\\(" + Pattern.quote(number) + "\\b"));
    }

    @Test
    void everyAlertIsExplained() {
        assertThat(rules()).isNotEmpty().allSatisfy(rule -> assertThat(Pages.text("docs/observing.md"))
                .contains("| `%s` |".formatted(rule.get("alert"))));
    }

    @Test
    void theDashboardAsksForWhatIsThere() throws IOException {
        List<String> expressions = new ArrayList<>(dashboard("$.panels[*].targets[*].expr"));
        expressions.addAll(dashboard("$.templating.list[*].query.query"));

        assertThat(names(expressions)).isNotEmpty().isSubsetOf(SCRAPED);
    }

    @Test
    void everyMeterHasAPanel() throws IOException {
        Set<String> charted = names(dashboard("$.panels[*].targets[*].expr"));

        assertThat(METERS).allSatisfy(meter -> {
            String stem = meter.substring(0, meter.indexOf(' ')).replace('.', '_');
            assertThat(charted).anyMatch(name -> name.matches(stem + "(_total|_seconds(_count|_sum|_max)?)?"));
        });
    }

    private static Stream<MatchResult> rows() {
        return ROW.matcher(Pages.text("docs/observing.md")).results();
    }

    private static List<Map<String, Object>> rules() {
        Map<String, List<Map<String, List<Map<String, Object>>>>> file =
                new Yaml().load(String.join("\n", Pages.lines(Pages.ROOT.resolve("docs/prometheus-rules.yml"))));
        return file.get("groups").stream()
                .flatMap(group -> group.get("rules").stream())
                .toList();
    }

    private static List<String> dashboard(String path) throws IOException {
        return JsonPath.parse(Pages.ROOT.resolve("docs/grafana-dashboard.json").toFile())
                .read(path);
    }

    private static Set<String> names(List<String> expressions) {
        return expressions.stream()
                .flatMap(expression -> NAME.matcher(expression).results())
                .map(MatchResult::group)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Registries sort tags; the page has them in the order of their meaning. */
    private static List<String> inOrder(List<String> tags) {
        List<String> order = List.of("method", "limit", "outcome", "exception", "reason");
        return tags.stream()
                .sorted((a, b) -> Integer.compare(order.indexOf(a), order.indexOf(b)))
                .toList();
    }
}
