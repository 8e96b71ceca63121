package io.github.virtualthread.cluster.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The table, which has a row for each limit, on a connection in auto-commit mode: no statement leaves a lock behind. */
final class LimitTable {

    private final Connection connection;
    private final Database database;
    private final String table;
    private final String cluster;

    /** The texts of some limits, at one moment. */
    static final class Reading {

        final long now;

        /** Names the server process; empty if that says nothing. */
        final String server;

        private final Map<String, Row> rows = new HashMap<>();

        private Reading(long now, String server) {
            this.now = now;
            this.server = server;
        }

        /** The row of a limit, null if it has none. */
        @Nullable
        Row row(String limit) {
            return rows.get(limit);
        }
    }

    /** What is stored of a limit. */
    record Row(long version, String text) {}

    LimitTable(Connection connection, Database database, String table, String cluster) {
        this.connection = connection;
        this.database = database;
        this.table = table;
        this.cluster = cluster;
    }

    static void find(Connection connection, String table) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(
                        "select cluster_name, limit_name, version, ledger from " + table + " where 1 = 0");
                ResultSet rows = statement.executeQuery()) {
            rows.next();
        }
    }

    /** One statement: rows and time are of the same moment, and there is a time even if there is no row. */
    Reading read(Collection<String> limits) throws SQLException {
        String sql = "select t.engine_time, t.engine_server, l.limit_name, l.version, l.ledger from (select "
                + database.clock + " as engine_time, " + database.server + " as engine_server) t left join " + table
                + " l on l.cluster_name = ? and l.limit_name in ("
                + String.join(", ", Collections.nCopies(limits.size(), "?")) + ")";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, cluster);
            int index = 2;
            for (String limit : limits) {
                statement.setString(index++, limit);
            }
            try (ResultSet rows = statement.executeQuery()) {
                return reading(rows);
            }
        }
    }

    private static Reading reading(ResultSet rows) throws SQLException {
        rows.next();
        Reading reading = new Reading(rows.getLong(1), Objects.requireNonNullElse(rows.getString(2), ""));
        do {
            String limit = rows.getString(3);
            if (limit != null) {
                reading.rows.put(
                        limit,
                        new Row(rows.getLong(4), Objects.requireNonNullElse(rows.getString(5), ""))); // '' of Oracle
            }
        } while (rows.next());
        return reading;
    }

    /**
     * Stores the text of a limit, if nobody has done so since it was read.
     *
     * @return whether it is stored
     */
    boolean write(String limit, @Nullable Row before, String text) throws SQLException {
        String sql = before == null
                ? "insert into " + table + " (ledger, version, cluster_name, limit_name) values (?, ?, ?, ?)"
                : "update " + table + " set ledger = ?, version = ? where cluster_name = ? and limit_name = ?"
                        + " and version = ?";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, text);
            statement.setLong(2, before == null ? 1 : before.version + 1);
            statement.setString(3, cluster);
            statement.setString(4, limit);
            if (before != null) {
                statement.setLong(5, before.version);
            }
            return statement.executeUpdate() == 1;
        }
    }
}
