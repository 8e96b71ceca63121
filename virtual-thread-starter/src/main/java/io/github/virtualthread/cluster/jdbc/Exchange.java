package io.github.virtualthread.cluster.jdbc;

import io.github.virtualthread.cluster.Answer;
import io.github.virtualthread.cluster.Claim;
import io.github.virtualthread.cluster.LimitLedger;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * The claims of one member: reads the limits, each a row of the table, and writes each of them if nobody has written it meanwhile;
 * otherwise it reads that limit again. So nobody waits for another member, wherever that stands still.
 *
 * @param connection in auto-commit mode: no statement leaves a lock behind
 * @param begun by the clock of this JVM, when the claims were made
 */
record Exchange(Connection connection, Database database, String table, String cluster, long begun) {

    private static final int ATTEMPTS = 20;

    /** A lock of somebody else: of H2, and of MariaDB and MySQL. */
    private static final String LOCKED = "HYT00";

    private static final int LOCKED_CODE = 1205;

    /**
     * What was read of a limit.
     *
     * @param version number of the last change, from 1; 0 if somebody has deleted it, -1 if the limit is new
     * @param now time of the engine at that moment
     * @param server names the server process; empty if that says nothing
     * @param late how long after the claims were made
     */
    private record Row(long version, String text, long now, String server, Duration late) {}

    List<Answer> lend(List<Claim> claims) throws SQLException, InterruptedException {
        Map<String, Row> rows = look(claims.stream().map(Claim::limit).toList());
        List<Answer> answers = new ArrayList<>();
        for (Claim claim : claims) {
            answers.add(lend(claim, rows));
        }
        return answers;
    }

    /** Isolation may be such that the database refuses even to read, now and then. */
    private Map<String, Row> look(List<String> limits) throws SQLException, InterruptedException {
        for (int attempt = 1; ; attempt++) {
            try {
                return read(limits);
            } catch (SQLException failure) {
                if (!isConflict(failure) || attempt == ATTEMPTS) {
                    throw failure;
                }
                pause(attempt);
            }
        }
    }

    /** One statement: rows and time are of the same moment, and there is a time even if there is no row. */
    private Map<String, Row> read(List<String> limits) throws SQLException {
        Duration late = Duration.ofNanos(System.nanoTime() - begun);
        String latest = "(l.limit_name = ? and l.version = (select v.version from " + table
                + " v where v.cluster_name = ? and v.limit_name = ? order by v.version desc " + database.first + "))";
        String sql = "select t.engine_time, t.engine_server, l.limit_name, l.version, l.ledger from (select "
                + database.clock + " as engine_time, " + database.server + " as engine_server) t left join " + table
                + " l on l.cluster_name = ? and (" + String.join(" or ", Collections.nCopies(limits.size(), latest))
                + ")";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            int parameter = 1;
            statement.setString(parameter++, cluster);
            for (String limit : limits) {
                statement.setString(parameter++, limit);
                statement.setString(parameter++, cluster);
                statement.setString(parameter++, limit);
            }
            try (ResultSet found = statement.executeQuery()) {
                found.next();
                Row none = new Row(-1, "", found.getLong(1), text(found, 2), late);
                Map<String, Row> rows = new HashMap<>();
                limits.forEach(limit -> rows.put(limit, none));
                do {
                    // a limit without a row has no name here
                    rows.put(text(found, 3), new Row(found.getLong(4), text(found, 5), none.now, none.server, late));
                } while (found.next());
                return rows;
            }
        }
    }

    /** Empty for null, which is {@code ''} in Oracle mode. */
    private static String text(ResultSet rows, int column) throws SQLException {
        return Objects.requireNonNullElse(rows.getString(column), "");
    }

    private Answer lend(Claim claim, Map<String, Row> first) throws SQLException, InterruptedException {
        Map<String, Row> rows = first;
        for (int attempt = 1; ; attempt++) {
            Answer answer = tried(claim, Objects.requireNonNull(rows.get(claim.limit())));
            if (answer != null) {
                return answer;
            }
            if (attempt == ATTEMPTS) {
                return Answer.refused("Claim " + claim.number() + " of member '" + claim.member() + "' for limit '"
                        + claim.limit() + "' was refused: in " + ATTEMPTS + " attempts the row in " + name()
                        + " was changed by others each time. The next claim may find it free; if this is repeated, too"
                        + " many replicas share the limit: set virtual-thread.cluster.beat to more, or use Redis");
            }
            pause(attempt);
            rows = look(List.of(claim.limit()));
        }
    }

    /** Null if another member has written the row meanwhile. */
    private @Nullable Answer tried(Claim claim, Row row) throws SQLException {
        LimitLedger ledger;
        try {
            ledger = row.version <= 0 ? new LimitLedger(!Database.isInThisJvm(connection)) : LimitLedger.of(row.text);
        } catch (IllegalArgumentException strange) {
            return Answer.refused("Limit '" + claim.limit() + "' cannot be lent: its ledger in " + name() + " "
                    + strange.getMessage() + ". Delete that row while no replica of another version runs");
        }
        Answer answer = ledger.lend(claim, row.now, row.server, row.late);
        String text = ledger.text();
        boolean isStored = row.version <= 0 ? ledger.isEmpty() : row.text.equals(text);
        if (answer.refusal() != null || isStored) {
            return answer;
        }
        try {
            return write(claim.limit(), row, text) ? answer : null;
        } catch (SQLException failure) {
            if (isConflict(failure)) {
                return null;
            }
            if (failure.getErrorCode() == LOCKED_CODE || Database.says(failure, LOCKED, "22")) {
                return Answer.refused("Limit '" + claim.limit() + "' could not be stored in " + name() + ": "
                        + failure.getMessage()
                        + ". Look for who locks its row, and compare the table with the schema of the starter");
            }
            throw failure;
        }
    }

    /**
     * Stores the text of a limit, if nobody has done so since it was read. A change gives its row another key, so beside the first row
     * there is one of version 0, which keeps whoever has found none from making one more.
     *
     * @return whether it is stored
     */
    private boolean write(String limit, Row before, String text) throws SQLException {
        if (before.version >= 0) {
            return write(
                    "update " + table + " set ledger = ?, version = ? where cluster_name = ? and limit_name = ?"
                            + " and version = ?",
                    List.of(text, before.version + 1, cluster, limit, before.version));
        }
        return write(
                "insert into " + table
                        + " (ledger, version, cluster_name, limit_name) values (?, 1, ?, ?), ('-', 0, ?, ?)",
                List.of(text, cluster, limit, cluster, limit));
    }

    private boolean write(String sql, List<?> parameters) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.size(); i++) {
                statement.setObject(i + 1, parameters.get(i));
            }
            return statement.executeUpdate() > 0;
        }
    }

    /** As messages name it. */
    private String name() {
        return "table " + table + " of cluster '" + cluster + "'";
    }

    /** Another member was faster: it has inserted the row, or changed it. Nothing is stored. */
    private static boolean isConflict(SQLException failure) {
        return Database.says(failure, "23", "40", "90131");
    }

    /** Of many members that meet, each chooses another time to come again. */
    private static void pause(int attempt) throws InterruptedException {
        Thread.sleep(Duration.ofNanos(ThreadLocalRandom.current().nextLong(1_000_000L << Math.min(attempt, 6))));
    }
}
