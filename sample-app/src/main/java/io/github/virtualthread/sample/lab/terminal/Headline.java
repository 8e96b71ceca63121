package io.github.virtualthread.sample.lab.terminal;

import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Facts;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Report;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Two figures of an experiment that show what it is about.
 *
 * @param column key of the figure; for an experiment without figures the name of a fact
 * @param settings names of those that the figures depend on most
 * @param one contender, as a regular expression; of several the last one
 * @param other contender to compare with, likewise
 */
record Headline(String experiment, String column, List<String> settings, String one, String other) {

    static final List<Headline> ALL = List.of(
            new Headline(
                    "pool-or-virtual",
                    "millis",
                    List.of("tasks", "millis"),
                    "Spring Boot's default pool of 8",
                    "@VirtualThread"),
            new Headline(
                    "blocking-requests",
                    "rate",
                    List.of("users", "millis"),
                    "platform threads, block",
                    "virtual threads, block"),
            new Headline(
                    "one-carrier",
                    "rate",
                    List.of("users", "millis"),
                    "one platform thread",
                    "virtual threads on one carrier"),
            new Headline("thread-cost", "start", List.of(), "platform threads", "virtual threads"),
            new Headline("thread-locals", "foreign", List.of("many"), "pool of 50 threads", "@VirtualThread.*"),
            new Headline(
                    "thread-states", "sleeps in a class initializer", List.of(), "Thread\\.getState\\(\\)", "inside.*"),
            new Headline(
                    "exploding-pool",
                    "done",
                    List.of("requests", "watch"),
                    "@Async, pool 50 and queue 100",
                    "@VirtualThread with a limit"),
            new Headline(
                    "scarce-resource",
                    "failed",
                    List.of("connections", "timeout"),
                    "virtual threads, no limit",
                    "@VirtualThread with a limit"),
            new Headline(
                    "scarce-resource",
                    "most",
                    List.of("connections", "wait"),
                    "@VirtualThread with a limit",
                    "@VirtualThread, max-wait"),
            new Headline("pinning-driver", "rate", List.of("millis"), "Java 2[123]\\b.*", "Java (?!2[123]\\b).*"),
            new Headline("composite-task", "page", List.of(), "one after the other", "VirtualThreads\\.all"),
            new Headline(
                    "context-and-cancel",
                    "cancel(true) after the work has begun",
                    List.of(),
                    "@Async on virtual threads",
                    "@VirtualThread"),
            new Headline("limit-while-it-runs", "done", List.of("rate"), "first, .*", "then, .*"),
            new Headline("one-tenant-floods", "p50", List.of("flood", "others", "rate"), "one queue", "turns"),
            new Headline(
                    "the-door",
                    "told",
                    List.of("users", "places"),
                    "virtual threads, no door",
                    "virtual threads, door"),
            new Headline(
                    "three-times-too-much",
                    "inTime",
                    List.of("load"),
                    "limit with a deadline",
                    "the same, reject-hopeless"),
            new Headline(
                    "database-stops",
                    "most",
                    List.of("connections"),
                    "timeout interrupts the call",
                    "timeout cancels the statement"),
            new Headline(
                    "client-gone", "gone", List.of("clients", "connections"), "neither property", "both properties"),
            new Headline("three-replicas", "oneIdle", List.of("permits"), "local limits", "shares"),
            new Headline("three-replicas", "redisStopped", List.of("permits"), "a permit for each call", "shares"));

    /** What it is of and the two figures, each with its contender; nothing where that was not measured. */
    Optional<List<String>> cells(Report.Entry entry) {
        Answer answer = entry.answer();
        if (answer == null) {
            return Optional.empty();
        }
        return answer.columns().isEmpty() ? fact(answer.facts()) : figure(entry, answer);
    }

    private Optional<List<String>> figure(Report.Entry entry, Answer answer) {
        Optional<String> label = answer.columns().stream()
                .filter(each -> each.key().equals(column))
                .map(each -> TextTable.heading(each) + chosen(entry))
                .findFirst();
        return row(answer, one).flatMap(first -> row(answer, other)
                .flatMap(second -> label.map(text -> List.of(text, figure(first), figure(second)))));
    }

    private String chosen(Report.Entry entry) {
        String chosen = ExperimentsPage.settings(entry, settings);
        return chosen.isEmpty() ? "" : " (%s)".formatted(chosen);
    }

    private String figure(Row row) {
        return "%s: %s".formatted(Answer.number(row.median(column)), row.name());
    }

    private Optional<Row> row(Answer answer, String name) {
        return answer.rows().stream()
                .filter(row -> row.name().matches(name) && row.figures().containsKey(column))
                .reduce((former, latter) -> latter);
    }

    private Optional<List<String>> fact(Facts facts) {
        return facts.rows().stream()
                .filter(row -> row.getFirst().equals(column))
                .map(row ->
                        Stream.concat(Stream.of(column), contenders(facts, row)).toList())
                .findFirst();
    }

    private Stream<String> contenders(Facts facts, List<String> row) {
        return IntStream.range(1, row.size())
                .filter(i -> facts.columns().get(i).matches(one)
                        || facts.columns().get(i).matches(other))
                .mapToObj(i -> "%s: %s".formatted(row.get(i), facts.columns().get(i)));
    }
}
