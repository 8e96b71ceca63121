package io.github.virtualthread.cluster.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.core.io.ClassPathResource;

/** A database that the engine knows, and what it says in another way than the others do. */
enum Database {
    /** The text of the time of its start depends on the session, its number does not. */
    POSTGRESQL(
            "schema-postgresql.sql",
            "PostgreSQL",
            "cast(extract(epoch from clock_timestamp()) * 1000 as bigint)",
            "cast(cast(extract(epoch from pg_postmaster_start_time()) * 1000000 as bigint) as text)",
            "fetch first 1 row only"),

    /** The beginning of the statement; without any time zone, so that no hour comes twice. */
    MARIADB(
            "schema-mariadb.sql",
            "MariaDB",
            "timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6)) div 1000",
            "@@hostname",
            "limit 1"),

    MYSQL("schema-mysql.sql", "MySQL", MARIADB.clock, "''", MARIADB.first),

    /** The beginning of the statement, in auto-commit mode. */
    H2("schema-h2.sql", "H2", "cast(extract(epoch from current_timestamp) * 1000 as bigint)", "''", POSTGRESQL.first);

    private final String schema;
    private final String product;

    /** SQL for the time of the server in milliseconds. */
    final String clock;

    private final String server;

    /** SQL that ends a query for one row. */
    final String first;

    Database(String schema, String product, String clock, String server, String first) {
        this.schema = schema;
        this.product = product;
        this.clock = clock;
        this.server = server;
        this.first = first;
    }

    /** By the name of the product: the URL of H2 may ask for the mode of another database. The driver of MySQL calls MariaDB so, too. */
    static Database of(Connection connection) throws SQLException {
        DatabaseMetaData server = connection.getMetaData();
        String product = server.getDatabaseProductName();
        if (product.equals(MYSQL.product) && server.getDatabaseProductVersion().contains(MARIADB.product)) {
            return MARIADB;
        }
        return Arrays.stream(values())
                .filter(database -> database.product.equals(product))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("The database '" + product
                        + "' cannot lend the permits of limits with cluster-permits. Known databases: "
                        + Arrays.stream(values())
                                .map(database -> database.product)
                                .collect(Collectors.joining(", "))
                        + ". Use one of these, or Redis, or declare a bean of type ClusterStore"));
    }

    /**
     * SQL for a text that another server, if possible each process of it, does not have; for an empty one if there is none. The servers
     * of a Galera cluster have the same data, whichever answers.
     */
    String server(Connection connection) throws SQLException {
        return this == MARIADB && isGalera(connection) ? "''" : server;
    }

    /** A server that was built without Galera has no such variable. */
    private static boolean isGalera(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet variable = statement.executeQuery("show global variables like 'wsrep_on'")) {
            return variable.next() && variable.getString(2).equals("ON");
        }
    }

    /**
     * Whether a failure has one of some SQLStates.
     *
     * @param states whole, or only their beginnings
     */
    static boolean says(SQLException failure, String... states) {
        String state = failure.getSQLState();
        return state != null && Stream.of(states).anyMatch(state::startsWith);
    }

    /** In PostgreSQL; in all others; and in H2 if the schema is missing. */
    static boolean isMissingTable(SQLException failure) {
        return says(failure, "42P01", "42S0", "90079");
    }

    /** Whether nobody outside this JVM can have reached the data. */
    static boolean isInThisJvm(Connection connection) throws SQLException {
        String url = connection.getMetaData().getURL();
        return url != null && url.startsWith("jdbc:h2:mem:");
    }

    /** The statement that creates the table. */
    String schema(String table) {
        try {
            return new ClassPathResource(schema, Database.class)
                    .getContentAsString(StandardCharsets.UTF_8)
                    .replace(TableName.DEFAULT, table);
        } catch (IOException e) {
            throw new UncheckedIOException(
                    schema + " is missing beside " + Database.class.getName()
                            + ": a native image needs a hint for this resource",
                    e);
        }
    }
}
