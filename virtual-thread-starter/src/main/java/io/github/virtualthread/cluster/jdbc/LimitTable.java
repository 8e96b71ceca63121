package io.github.virtualthread.cluster.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.UUID;

/**
 * The table, in one transaction. The row of a limit with member '*' is what is locked; it has the epoch, and ends when shares may
 * grow again. The other rows are those of the members.
 */
final class LimitTable {

    /** How long a transaction waits for the locks of others, and on PostgreSQL how long it has locks and does nothing. */
    static final Duration PATIENCE = Duration.ofSeconds(10);

    /** Not empty, as that is no text at all in H2's mode of Oracle. No member has this name: all end with random characters. */
    private static final String NO_MEMBER = "*";

    private static final String NO_EPOCH = "-";

    private static final String INSERT =
            "insert into virtual_thread_limit (cluster_name, limit_name, member_name, epoch,"
                    + " permits, holds, wants, claim_number, ends_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?)";
    private static final String UPDATE = "update virtual_thread_limit set permits = ?, holds = ?, wants = ?,"
            + " claim_number = ?, ends_at = ? where cluster_name = ? and limit_name = ? and member_name = ?";
    private static final String HOLD_UP = "update virtual_thread_limit set ends_at = ?"
            + " where cluster_name = ? and limit_name = ? and member_name = '" + NO_MEMBER + "'";
    private static final String DELETE =
            "delete from virtual_thread_limit where cluster_name = ? and limit_name = ? and member_name = ?";

    private static final String FORGET = "delete from virtual_thread_limit where cluster_name = ? and limit_name = ?";
    private static final int MOST_FORGOTTEN = 500;

    private final Connection connection;
    private final Database database;
    private final String cluster;
    private long now;

    LimitTable(Connection connection, String cluster) throws SQLException {
        this.connection = connection;
        this.database = Database.of(connection);
        this.cluster = cluster;
    }

    static void find(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(
                        "select cluster_name, limit_name, member_name, epoch,"
                                + " permits, holds, wants, claim_number, ends_at from virtual_thread_limit where 1 = 0");
                ResultSet rows = statement.executeQuery()) {
            rows.next();
        }
    }

    /** Waits for those who have the locks, then locks in the order of the names, so that two members never wait for each other. */
    void lock(SortedSet<String> limits) throws SQLException {
        SortedSet<String> missing = new TreeSet<>(limits);
        missing.removeAll(locked(limits));
        // Of two members that do this at once, the second one fails, and finds them when it begins anew.
        batch(INSERT, missing.stream().map(this::created).toList());
    }

    private Set<String> locked(SortedSet<String> limits) throws SQLException {
        Set<String> locked = new HashSet<>();
        String sql = "select limit_name, " + database.withLock + " from virtual_thread_limit where cluster_name = ?"
                + " and member_name = '" + NO_MEMBER + "' and limit_name in " + placeholders(limits)
                + " order by limit_name for update";
        try (PreparedStatement statement = prepare(sql, limits)) {
            statement.setQueryTimeout((int) PATIENCE.toSeconds());
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    locked.add(rows.getString(1));
                }
            }
        }
        return locked;
    }

    /** Deletes limits that nobody has claimed for so long. */
    void forget(Duration idle) throws SQLException {
        SortedSet<String> old = new TreeSet<>();
        try (PreparedStatement statement = connection.prepareStatement("select limit_name from virtual_thread_limit"
                + " where cluster_name = ? group by limit_name having max(ends_at) < " + database.clock + " - ?")) {
            statement.setString(1, cluster);
            statement.setLong(2, idle.toMillis());
            statement.setMaxRows(MOST_FORGOTTEN);
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    old.add(rows.getString(1));
                }
            }
        }
        if (old.isEmpty() || locked(old).isEmpty()) {
            return;
        }
        Map<String, LimitRows> limits = read(old);
        limits.values().removeIf(rows -> rows.endedAt() >= now - idle.toMillis()); // claimed meanwhile
        batch(
                FORGET,
                limits.keySet().stream()
                        .map(limit -> List.<Object>of(cluster, limit))
                        .toList());
    }

    private List<Object> created(String limit) {
        return List.of(cluster, limit, NO_MEMBER, UUID.randomUUID().toString(), 0, 0, 0, 0L, 0L);
    }

    /** Another statement than the one that locks: it sees what was committed while that one waited, and its time is later. */
    Map<String, LimitRows> read(Collection<String> limits) throws SQLException {
        Map<String, LimitRows> read = new HashMap<>();
        String sql =
                "select limit_name, member_name, epoch, permits, holds, wants, claim_number, ends_at, " + database.clock
                        + " from virtual_thread_limit where cluster_name = ? and limit_name in " + placeholders(limits)
                        + " order by case member_name when '" + NO_MEMBER + "' then 0 else 1 end";
        try (PreparedStatement statement = prepare(sql, limits);
                ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                add(rows, read);
            }
        }
        return read;
    }

    /** The rows without a member come first. */
    private void add(ResultSet rows, Map<String, LimitRows> read) throws SQLException {
        String limit = rows.getString(1);
        String member = rows.getString(2);
        long endsAt = rows.getLong(8);
        if (member.equals(NO_MEMBER)) {
            now = Math.max(now, rows.getLong(9));
            read.put(limit, new LimitRows(rows.getString(3), endsAt));
        } else {
            LimitRows.Row row =
                    new LimitRows.Row(rows.getInt(4), rows.getInt(5), rows.getInt(6), rows.getLong(7), endsAt);
            rows(read, limit).add(member, row);
        }
    }

    /** Those of a limit that is locked. */
    static LimitRows rows(Map<String, LimitRows> limits, String limit) {
        return Objects.requireNonNull(
                limits.get(limit),
                () -> "virtual_thread_limit has no row for limit '" + limit
                        + "': its columns must compare names exactly, as in the schema of the starter");
    }

    /** Time of the database when the rows were read, in milliseconds. */
    long now() {
        return now;
    }

    /** Writes what a member has changed: its own rows, and those of members whose lease is over. */
    void write(Map<String, LimitRows> limits, String member) throws SQLException {
        List<List<Object>> inserts = new ArrayList<>();
        List<List<Object>> updates = new ArrayList<>();
        List<List<Object>> deletes = new ArrayList<>();
        List<List<Object>> heldUp = new ArrayList<>();
        limits.forEach((limit, rows) -> {
            if (rows.isHeldUp()) {
                heldUp.add(List.of(rows.noGrowthUntil(), cluster, limit));
            }
            for (String each : rows.stored) {
                if (!rows.members.containsKey(each)) {
                    deletes.add(List.of(cluster, limit, each));
                }
            }
            LimitRows.Row row = rows.members.get(member);
            if (row != null && rows.stored.contains(member)) {
                updates.add(List.of(
                        row.permits(), row.holds(), row.wants(), row.number(), row.endsAt(), cluster, limit, member));
            } else if (row != null) {
                inserts.add(List.of(
                        cluster,
                        limit,
                        member,
                        NO_EPOCH,
                        row.permits(),
                        row.holds(),
                        row.wants(),
                        row.number(),
                        row.endsAt()));
            }
        });
        batch(HOLD_UP, heldUp);
        batch(DELETE, deletes);
        batch(UPDATE, updates);
        batch(INSERT, inserts);
    }

    private PreparedStatement prepare(String sql, Collection<String> limits) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        try {
            statement.setString(1, cluster);
            int index = 2;
            for (String limit : limits) {
                statement.setString(index++, limit);
            }
            return statement;
        } catch (SQLException | RuntimeException failure) {
            statement.close();
            throw failure;
        }
    }

    private void batch(String sql, List<List<Object>> rows) throws SQLException {
        if (rows.isEmpty()) {
            return;
        }
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (List<Object> row : rows) {
                for (int i = 0; i < row.size(); i++) {
                    statement.setObject(i + 1, row.get(i));
                }
                statement.addBatch();
            }
            statement.executeBatch();
        }
    }

    private static String placeholders(Collection<String> limits) {
        return "(" + String.join(", ", Collections.nCopies(limits.size(), "?")) + ")";
    }
}
