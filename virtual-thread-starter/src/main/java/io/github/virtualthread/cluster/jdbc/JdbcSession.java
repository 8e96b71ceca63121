package io.github.virtualthread.cluster.jdbc;

import io.github.virtualthread.cluster.ClusterStore.Session;
import io.github.virtualthread.cluster.ClusterStore.Snapshot;
import io.github.virtualthread.cluster.ClusterStore.Text;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Each limit is a row of the table, with a version that counts its changes.
 *
 * @param borrowed in auto-commit mode: no statement leaves a lock behind
 * @param server SQL for the name of the server
 * @param deleted limits whose row somebody has deleted, as was read last
 */
record JdbcSession(
        BorrowedConnection borrowed,
        Database database,
        String server,
        String table,
        String cluster,
        Set<String> deleted)
        implements Session {

    private static final int ATTEMPTS = 20;

    /** A lock of somebody else: of H2, and of MariaDB and MySQL. */
    private static final String LOCKED = "HYT00";

    private static final int LOCKED_CODE = 1205;

    /** Isolation may be such that the database refuses even to read, now and then. */
    @Override
    public Snapshot read(List<String> limits) throws SQLException {
        for (int attempt = 1; ; attempt++) {
            try {
                return select(limits);
            } catch (SQLException failure) {
                if (Database.isMissingTable(failure)) {
                    throw new SQLException(missing(), failure);
                }
                if (!isConflict(failure) || attempt == ATTEMPTS) {
                    throw failure;
                }
            }
        }
    }

    private String missing() {
        return "Table " + table
                + " is missing: it was dropped, or the user sees another schema now. Create it by schema-*.sql"
                + " beside " + JdbcClusterStore.class.getName() + " in the jar, or start one replica anew with"
                + " virtual-thread.cluster.jdbc.initialize-schema: always";
    }

    /** One statement: rows and time are of the same moment, and there is a time even if there is no row. */
    private Snapshot select(List<String> limits) throws SQLException {
        String latest = "(l.limit_name = ? and l.version = (select v.version from " + table
                + " v where v.cluster_name = ? and v.limit_name = ? order by v.version desc " + database.first + "))";
        String sql = "select t.engine_time, t.engine_server, l.limit_name, l.version, l.ledger from (select "
                + database.clock + " as engine_time, " + server + " as engine_server) t left join " + table
                + " l on l.cluster_name = ? and (" + String.join(" or ", Collections.nCopies(limits.size(), latest))
                + ")";
        try (PreparedStatement statement = borrowed.connection().prepareStatement(sql)) {
            int parameter = 1;
            statement.setString(parameter++, cluster);
            for (String limit : limits) {
                statement.setString(parameter++, limit);
                statement.setString(parameter++, cluster);
                statement.setString(parameter++, limit);
            }
            try (ResultSet found = statement.executeQuery()) {
                found.next();
                long now = found.getLong(1);
                String answering = text(found, 2);
                Map<String, Text> texts = new HashMap<>();
                deleted.removeAll(limits);
                do {
                    String limit = found.getString(3);
                    long version = found.getLong(4);
                    if (limit != null && version > 0) { // else no limit has a row
                        texts.put(limit, new Text(version, text(found, 5)));
                    } else if (limit != null) {
                        deleted.add(limit);
                    }
                } while (found.next());
                return new Snapshot(now, answering, !Database.isInThisJvm(borrowed.connection()), texts);
            }
        }
    }

    /** Empty for null, which is {@code ''} in Oracle mode. */
    private static String text(ResultSet rows, int column) throws SQLException {
        return Objects.requireNonNullElse(rows.getString(column), "");
    }

    @Override
    public Map<String, String> replace(Map<String, Text> texts) throws SQLException {
        Map<String, String> failed = new HashMap<>();
        for (Map.Entry<String, Text> each : texts.entrySet()) {
            String limit = each.getKey();
            try {
                if (!write(limit, each.getValue())) {
                    failed.put(limit, "");
                }
            } catch (SQLException failure) {
                if (isConflict(failure)) {
                    failed.put(limit, "");
                } else if (failure.getErrorCode() == LOCKED_CODE || Database.says(failure, LOCKED, "22")) {
                    failed.put(
                            limit,
                            failure.getMessage()
                                    + ". Look for who locks its row, and compare the table with the schema of the starter");
                } else {
                    throw failure;
                }
            }
        }
        return failed;
    }

    /**
     * Whether it is stored: nobody has written that row since it was read. A change gives a row another key, so beside the first row there
     * is one of version 0, which keeps whoever has found none from making one more.
     */
    private boolean write(String limit, Text text) throws SQLException {
        if (text.version() > 0 || deleted.contains(limit)) {
            return write(
                    "update " + table + " set ledger = ?, version = ? where cluster_name = ? and limit_name = ?"
                            + " and version = ?",
                    List.of(text.text(), text.version() + 1, cluster, limit, text.version()));
        }
        return write(
                "insert into " + table
                        + " (ledger, version, cluster_name, limit_name) values (?, 1, ?, ?), ('-', 0, ?, ?)",
                List.of(text.text(), cluster, limit, cluster, limit));
    }

    private boolean write(String sql, List<?> parameters) throws SQLException {
        try (PreparedStatement statement = borrowed.connection().prepareStatement(sql)) {
            for (int i = 0; i < parameters.size(); i++) {
                statement.setObject(i + 1, parameters.get(i));
            }
            return statement.executeUpdate() > 0;
        }
    }

    @Override
    public void close() throws SQLException {
        borrowed.close();
    }

    /** Another member was faster: it has inserted the row, or changed it. Nothing is stored. */
    private static boolean isConflict(SQLException failure) {
        return Database.says(failure, "23", "40", "90131");
    }
}
