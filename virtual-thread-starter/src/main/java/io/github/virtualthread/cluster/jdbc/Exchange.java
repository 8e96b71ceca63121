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
     * @param version number of the last change, from 1; 0 if there is no row
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
        String sql = "select t.engine_time, t.engine_server, l.limit_name, l.version, l.ledger from (select "
                + database.clock + " as engine_time, " + database.server + " as engine_server) t left join " + table
                + " l on l.cluster_name = ? and l.limit_name in ("
                + String.join(", ", Collections.nCopies(limits.size(), "?")) + ")";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, cluster);
            for (int i = 0; i < limits.size(); i++) {
                statement.setString(i + 2, limits.get(i));
            }
            try (ResultSet found = statement.executeQuery()) {
                found.next();
                Row none = new Row(0, "", found.getLong(1), text(found, 2), late);
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
            ledger = row.version == 0 ? new LimitLedger(!Database.isInThisJvm(connection)) : LimitLedger.of(row.text);
        } catch (IllegalArgumentException strange) {
            return Answer.refused("Limit '" + claim.limit() + "' cannot be lent: its ledger in " + name() + " "
                    + strange.getMessage() + ". Delete that row while no replica of another version runs");
        }
        Answer answer = ledger.lend(claim, row.now, row.server, row.late);
        String text = ledger.text();
        boolean isStored = row.version == 0 ? ledger.isEmpty() : row.text.equals(text);
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
     * Stores the text of a limit, if nobody has done so since it was read.
     *
     * @return whether it is stored
     */
    private boolean write(String limit, Row before, String text) throws SQLException {
        String sql = before.version == 0
                ? "insert into " + table + " (ledger, version, cluster_name, limit_name) values (?, ?, ?, ?)"
                : "update " + table + " set ledger = ?, version = ? where cluster_name = ? and limit_name = ?"
                        + " and version = ?";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, text);
            statement.setLong(2, before.version + 1);
            statement.setString(3, cluster);
            statement.setString(4, limit);
            if (before.version > 0) {
                statement.setLong(5, before.version);
            }
            return statement.executeUpdate() == 1;
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
