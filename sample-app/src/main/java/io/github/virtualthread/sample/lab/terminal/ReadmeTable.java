package io.github.virtualthread.sample.lab.terminal;

import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Report;

/** What README shows: what only this starter does, each beside its fair rival. */
final class ReadmeTable {

    private static final String NAME = "measured";

    private ReadmeTable() {}

    /** The page with the table of that report in place of what is between the marks. */
    static String in(String page, Report report) {
        return MarkedPart.in(page, NAME, of(report));
    }

    static String of(Report report) {
        Found tenants = new Found(report, "one-tenant-floods");
        Found stops = new Found(report, "database-stops");
        Found replicas = new Found(report, "three-replicas");
        String query = "query timeout of JDBC, 1 s";
        String statement = "timeout cancels the statement";
        return """
                | what happens | rival | this starter |
                |---|---|---|
                | One tenant makes %s calls at once. Median wait of %s others: | one queue, as of a semaphore: %s ms | [keys](docs/sharing.md): %s ms |
                | Queries run on after a timeout of 200 ms; the limit has %s permits. Queries in PostgreSQL at once, and median until a permit is back: | interrupt: %s, %s ms; query timeout of JDBC: %s, %s ms | [statements](docs/statements.md): %s, %s ms |
                | Three replicas share %s permits. Calls at once with one idle; with one killed and Redis stopped: | a permit from Redis for each call: %s; %s. Local limits: %s; %s | [shares](docs/cluster.md): %s; %s |
                """.formatted(
                        tenants.setting("flood"),
                        tenants.setting("others"),
                        tenants.figure("one queue", "p50"),
                        tenants.figure("turns", "p50"),
                        stops.setting("connections"),
                        stops.figure("timeout interrupts the call", "most"),
                        stops.figure("timeout interrupts the call", "back"),
                        stops.figure(query, "most"),
                        stops.figure(query, "back"),
                        stops.figure(statement, "most"),
                        stops.figure(statement, "back"),
                        Answer.number(3 * replicas.entry.settings().get("permits")),
                        replicas.figure("a permit for each call", "oneIdle"),
                        replicas.figure("a permit for each call", "redisStopped"),
                        replicas.figure("local limits", "oneIdle"),
                        replicas.figure("local limits", "redisStopped"),
                        replicas.figure("shares", "oneIdle"),
                        replicas.figure("shares", "redisStopped"));
    }

    /** The first run of an experiment. */
    private record Found(Report.Entry entry) {

        Found(Report report, String experiment) {
            this(report.experiments().stream()
                    .filter(each -> each.id().equals(experiment) && each.answer() != null)
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException(
                            "No answer of %s is among the results".formatted(experiment))));
        }

        String setting(String name) {
            return Answer.number(entry.settings().get(name));
        }

        String figure(String row, String column) {
            return Answer.number(entry.answer().row(row).median(column));
        }
    }
}
