package io.github.virtualthread.cluster.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verifyNoInteractions;
import static org.mockito.Mockito.when;

import io.github.virtualthread.cluster.ClusterStore.Session;
import io.github.virtualthread.cluster.ClusterStore.Text;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** In H2, in the memory of this JVM. */
@Tag("slow")
class JdbcClusterStoreTests extends JdbcStoreContract {

    @Override
    protected String url() {
        return "jdbc:h2:mem:cluster;DB_CLOSE_DELAY=-1";
    }

    @ParameterizedTest
    @CsvSource({"mem:, false", "file:%s/limits, true"})
    void otherProcessesMayHaveReachedADatabaseInAFile(String where, boolean isShared, @TempDir Path folder)
            throws Exception {
        String url = "jdbc:h2:" + where.formatted(folder);
        try (Connection connection = DriverManager.getConnection(url, "sa", "")) {
            JdbcClusterStore store = new JdbcClusterStore(new WatchedConnections(connection).dataSource(), "shop");
            store.initialize();

            assertThat(read(store, List.of("partner")).isShared()).isEqualTo(isShared);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "MySQL;DATABASE_TO_LOWER=TRUE",
                "MariaDB",
                "PostgreSQL;DATABASE_TO_LOWER=TRUE",
                "Oracle",
                "LEGACY"
            })
    void h2IsKnownInAnyMode(String mode) throws Exception {
        try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:;MODE=" + mode, "sa", "")) {
            WatchedConnections watched = new WatchedConnections(connection);
            JdbcClusterStore store = new JdbcClusterStore(watched.dataSource(), "shop");
            assertThat(store.isInitialized()).isFalse();

            store.initialize();

            assertThat(store.isInitialized()).isTrue();
            try (Session session = store.open()) {
                assertThat(session.replace(Map.of("partner", new Text(0, "one"))))
                        .isEmpty();
                assertThat(session.replace(Map.of("partner", new Text(1, "two"))))
                        .isEmpty();
                assertThat(session.read(List.of("partner")).texts()).containsValue(new Text(2, "two"));
            }
        }
    }

    /** The database ends with its last connection. */
    @Test
    void theTableIsMadeOnceIfTheDatabaseForgetsIt() throws Exception {
        DataSource dataSource = mock();
        when(dataSource.getConnection()).then(call -> DriverManager.getConnection("jdbc:h2:mem:forgets", "sa", ""));
        JdbcClusterStore store = new JdbcClusterStore(dataSource, "shop");

        store.initialize();

        assertThat(store.isInitialized()).isFalse();
    }

    @Test
    void anUnknownDatabaseIsNamedBesideThoseThatAreKnown() throws Exception {
        DataSource dataSource = mock(DataSource.class, RETURNS_DEEP_STUBS);
        when(dataSource.getConnection().getMetaData().getDatabaseProductName()).thenReturn("Oracle");
        JdbcClusterStore store = new JdbcClusterStore(dataSource, "shop");

        assertThatThrownBy(store::schema)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("'Oracle'")
                .hasMessageContaining("PostgreSQL, MariaDB, MySQL, H2");
        assertThatThrownBy(store::isInitialized).hasMessageContaining("'Oracle'");
        assertThatThrownBy(store::initialize).hasMessageContaining("'Oracle'");
    }

    /** Each has collations that the other does not know. */
    @ParameterizedTest
    @CsvSource({"9.1.0, MySQL", "5.5.5-10.11.6-MariaDB, MariaDB"})
    void mariaDbIsKnownByTheDriverOfMySql(String version, String database) throws Exception {
        DataSource dataSource = mock(DataSource.class, RETURNS_DEEP_STUBS);
        when(dataSource.getConnection().getMetaData().getDatabaseProductName()).thenReturn("MySQL");
        when(dataSource.getConnection().getMetaData().getDatabaseProductVersion())
                .thenReturn(version);

        assertThat(new JdbcClusterStore(dataSource, "shop").schema()).startsWith("-- " + database);
    }

    /** Whichever of its servers answers, the data are the same. A server that was built without Galera has no such variable. */
    @ParameterizedTest
    @CsvSource({"true, ON, ''", "true, OFF, @@hostname", "false, OFF, @@hostname"})
    void aGaleraClusterIsOneServer(boolean isBuilt, String wsrepOn, String server) throws Exception {
        Connection connection = mock(Connection.class, RETURNS_DEEP_STUBS);
        ResultSet variable = connection.createStatement().executeQuery("show global variables like 'wsrep_on'");
        when(variable.next()).thenReturn(isBuilt);
        when(variable.getString(2)).thenReturn(wsrepOn);

        assertThat(Database.MARIADB.server(connection)).isEqualTo(server.isEmpty() ? "''" : server);
    }

    @ParameterizedTest
    @ValueSource(strings = {"t", "virtual_thread_limit", "APP.limits", "db.app.limits_7", "a$b", "_x", "7"})
    void aTableHasANameThatNeedsNoQuotes(String table) throws Exception {
        DataSource dataSource = mock(DataSource.class, RETURNS_DEEP_STUBS);
        when(dataSource.getConnection().getMetaData().getDatabaseProductName()).thenReturn("H2");

        assertThat(new JdbcClusterStore(dataSource, "shop", table).schema())
                .contains("create table if not exists " + table + " (");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", " ", "a b", "a;drop table b", "a.", ".a", "a..b", "a.b.c.d", "\"a\"", "a-b", "\u00fc", "a\n"
            })
    void aTableWithAnotherNameIsAMistake(String table) {
        assertThatThrownBy(() -> new JdbcClusterStore(mock(), "shop", table))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Property virtual-thread.cluster.jdbc.table must be the name of a table, with letters, digits, _"
                                + " and $, at most 200 characters and two dots, such as app.virtual_thread_limit, was '"
                                + table
                                + "'");
    }

    @Test
    void theNameOfATableHasAtMost200Characters() {
        assertThatCode(() -> new JdbcClusterStore(mock(), "shop", "x".repeat(200)))
                .doesNotThrowAnyException();
        assertThatThrownBy(() -> new JdbcClusterStore(mock(), "shop", "x".repeat(201)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void noConnectionIsOpenedBeforeItIsNeeded() {
        DataSource dataSource = mock();

        assertThat(new JdbcClusterStore(dataSource, "shop").beat()).isEqualTo(Duration.ofMillis(500));

        verifyNoInteractions(dataSource);
    }
}
