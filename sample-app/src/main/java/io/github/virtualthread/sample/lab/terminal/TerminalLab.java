package io.github.virtualthread.sample.lab.terminal;

import io.github.virtualthread.sample.lab.About;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Line;
import io.github.virtualthread.sample.lab.Lab;
import io.github.virtualthread.sample.lab.LabRun;
import io.github.virtualthread.sample.lab.LabRun.Began;
import io.github.virtualthread.sample.lab.LabRun.Event;
import io.github.virtualthread.sample.lab.LabRun.Point;
import io.github.virtualthread.sample.lab.LabRun.Progress;
import io.github.virtualthread.sample.lab.Parameter;
import io.github.virtualthread.sample.lab.Report;
import io.github.virtualthread.sample.lab.Settings;
import io.github.virtualthread.sample.lab.Settings.Scale;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.ApplicationArguments;
import org.springframework.stereotype.Component;
import tools.jackson.databind.json.JsonMapper;

/**
 * Runs experiments without a browser: {@code --lab=all} or their ids, {@code --lab.scale=small} for a quick look or
 * {@code published} to repeat what others have published, and {@code --lab.tasks=1000} and the like for what can be chosen.
 */
@Component
public class TerminalLab {

    /** What differs from the application with a page: the page may be open beside it, and its log lines are not read here. */
    public static final Map<String, Object> PROPERTIES = Map.of(
            "server.port", 0,
            "spring.main.banner-mode", "off",
            "logging.file.name", "target/lab/lab.log",
            "logging.threshold.console", "error");

    private static final String OPTION = "lab";
    private static final String SCALE = "lab.scale";

    private static final String SMALL = "small";
    private static final String NORMAL = "normal";
    private static final String PUBLISHED = "published";
    private static final List<String> SCALES = List.of(SMALL, NORMAL, PUBLISHED);

    private final Lab lab;
    private final ApplicationArguments arguments;
    private final JsonMapper json;
    private final PrintStream out;
    private final Path directory;

    @Autowired
    TerminalLab(Lab lab, ApplicationArguments arguments, JsonMapper json) {
        this(lab, arguments, json, System.out, Path.of("target", "lab"));
    }

    TerminalLab(Lab lab, ApplicationArguments arguments, JsonMapper json, PrintStream out, Path directory) {
        this.lab = lab;
        this.arguments = arguments;
        this.json = json;
        this.out = out;
        this.directory = directory;
    }

    /** Whether {@code --lab} is among the arguments. */
    public static boolean isAskedFor(ApplicationArguments arguments) {
        return arguments.containsOption(OPTION);
    }

    /** Runs what was asked for; returns the exit code: 0, 1 where one failed to run, 2 where something else was asked for. */
    public int run() {
        try {
            List<About> chosen = chosen();
            String scale = scale();
            checkOptions(chosen);
            // all of them first: what cannot be is told before anything has run for minutes
            List<Planned> plan =
                    chosen.stream().flatMap(about -> plan(about, scale)).toList();
            Report report = Report.of(
                    Report.Machine.here(), plan.stream().map(this::run).toList());
            write(report);
            return report.experiments().stream().allMatch(entry -> entry.failure() == null) ? 0 : 1;
        } catch (IllegalArgumentException wrong) {
            out.print(TextTable.wrap(wrong.getMessage()));
            return 2;
        }
    }

    private List<About> chosen() {
        Map<String, About> known = new LinkedHashMap<>();
        lab.experiments().forEach(about -> known.put(about.id(), about));
        List<String> ids = arguments.getOptionValues(OPTION).stream()
                .flatMap(values -> Stream.of(values.split(",")))
                .map(String::strip)
                .toList();
        if (ids.isEmpty() || ids.equals(List.of("all"))) {
            return List.copyOf(known.values());
        }
        ids.stream().filter(id -> !known.containsKey(id)).findFirst().ifPresent(id -> {
            throw new IllegalArgumentException("--lab: there is no experiment '%s', only all and %s"
                    .formatted(id, String.join(", ", known.keySet())));
        });
        return ids.stream().map(known::get).toList();
    }

    private String scale() {
        String scale = option(SCALE, NORMAL);
        if (!SCALES.contains(scale)) {
            throw new IllegalArgumentException("--lab.scale must be one of %s, was '%s'".formatted(SCALES, scale));
        }
        return scale;
    }

    private Stream<Planned> plan(About about, String scale) {
        List<PublishedRun> runs =
                scale.equals(PUBLISHED) ? PublishedRun.of(about) : List.of(new PublishedRun(about.id(), Map.of()));
        return runs.stream().map(run -> {
            Map<String, String> values = new HashMap<>();
            run.settings().forEach((name, value) -> values.put(name, value.toString()));
            for (Parameter parameter : about.parameters()) {
                String value = option(OPTION + "." + parameter.name(), "");
                if (!value.isEmpty()) {
                    values.put(parameter.name(), value);
                }
            }
            Scale rest = scale.equals(SMALL) ? Scale.SMALL : Scale.NORMAL;
            return new Planned(
                    about,
                    Settings.of(about.parameters(), values, rest, Parameter::mostInTerminal, parameter -> "--%s.%s"
                            .formatted(OPTION, parameter.name())));
        });
    }

    private void checkOptions(List<About> chosen) {
        Set<String> known = chosen.stream()
                .flatMap(about -> about.parameters().stream())
                .map(parameter -> OPTION + "." + parameter.name())
                .collect(Collectors.toSet());
        arguments.getOptionNames().stream()
                .filter(name -> name.startsWith(OPTION + ".") && !name.equals(SCALE) && !known.contains(name))
                .findFirst()
                .ifPresent(name -> {
                    throw new IllegalArgumentException("--%s is no parameter of these experiments; they have %s"
                            .formatted(name, known.stream().sorted().toList()));
                });
    }

    private String option(String name, String byDefault) {
        List<String> values = arguments.getOptionValues(name);
        return values == null || values.isEmpty() ? byDefault : values.getLast();
    }

    private Report.Entry run(Planned planned) {
        About about = planned.about();
        out.print(TextTable.wrap("\n%s. %s\n%s\n  %s"
                .formatted(
                        lab.number(about.id()),
                        about.title(),
                        about.question(),
                        ExperimentsPage.settings(planned.settings().values()))));
        System.gc(); // what the run before has left is not measured with this one
        LabRun run = lab.start(about.id(), planned.settings());
        Lines lines = new Lines();
        Runnable deaf = run.listen(event -> {
            lines.accept(event);
            if (event instanceof Progress progress) {
                out.printf("  %3.0f %%  %s%n", progress.done() * 100, progress.text());
            }
        });
        try {
            Answer answer = run.answer().join();
            out.print(TextTable.of(answer));
            return entry(about, run, answer, lines, null);
        } catch (CompletionException | CancellationException failure) {
            Throwable cause = failure.getCause() == null ? failure : failure.getCause();
            out.print(TextTable.wrap("  failed: " + cause));
            return entry(about, run, null, lines, cause.toString());
        } finally {
            deaf.run();
        }
    }

    private Report.Entry entry(About about, LabRun run, Answer answer, Lines lines, String failure) {
        return new Report.Entry(
                about.id(),
                String.valueOf(lab.number(about.id())),
                about.title(),
                about.question(),
                about.notShown(),
                run.settings().values(),
                answer,
                lines.all(),
                failure);
    }

    private void write(Report report) {
        try {
            Files.createDirectories(directory);
            Path results = directory.resolve("results.json");
            Path page = directory.resolve("report.html");
            Files.writeString(results, json.writeValueAsString(report));
            Files.writeString(page, HtmlReport.of(report));
            // for docs, of which a test holds the one against the other
            Files.writeString(directory.resolve("experiments.json"), json.writeValueAsString(report.withoutCurves()));
            Files.writeString(directory.resolve("experiments.md"), ExperimentsPage.of(report));
            out.printf("%nWritten:%n  %s%n  %s%n", results.toAbsolutePath(), page.toAbsolutePath());
        } catch (IOException failure) {
            throw new IllegalArgumentException("The report cannot be written: " + failure, failure);
        }
    }

    private record Planned(About about, Settings settings) {}

    /** What is drawn while an experiment runs; of each line the latest. */
    private static final class Lines {

        private final Map<String, List<double[]>> points = new LinkedHashMap<>();

        synchronized void accept(Event event) {
            if (event instanceof Began began) {
                points.remove(began.line());
            } else if (event instanceof Point point) {
                points.computeIfAbsent(point.line(), line -> new ArrayList<>())
                        .add(new double[] {point.x(), point.y()});
            }
        }

        synchronized List<Line> all() {
            return points.entrySet().stream()
                    .map(line -> new Line(line.getKey(), List.copyOf(line.getValue())))
                    .toList();
        }
    }
}
