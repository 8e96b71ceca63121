package io.github.virtualthread.cluster.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verifyNoInteractions;
import static org.mockito.Mockito.when;

import io.github.virtualthread.cluster.Claim;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** In H2, in the memory of this JVM. */
@Tag("slow")
class JdbcClusterEngineTests extends JdbcEngineContract {

    @Override
    protected String url() {
        return "jdbc:h2:mem:cluster;DB_CLOSE_DELAY=-1";
    }

    @Override
    protected boolean mayBeLost() {
        return false;
    }

    @Override
    protected int claims() {
        return 100; // the slow tests, in other databases, have the usual number
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
            JdbcClusterEngine engine = new JdbcClusterEngine(watched.dataSource(), "shop");
            assertThat(engine.isInitialized()).isFalse();

            engine.initialize();

            assertThat(engine.isInitialized()).isTrue();
            for (int number = 1; number <= 2; number++) {
                Claim claim = new Claim(
                        "partner", "a", number, 0, Duration.ZERO, Duration.ZERO, 10, 0, 0, 3, 3, Duration.ZERO, LONG);
                assertThat(engine.exchange(List.of(claim)).getFirst().share()).isEqualTo(3);
            }
        }
    }

    /** The database ends with its last connection. */
    @Test
    void theTableIsMadeOnceIfTheDatabaseForgetsIt() throws Exception {
        DataSource dataSource = mock();
        when(dataSource.getConnection()).then(call -> DriverManager.getConnection("jdbc:h2:mem:forgets", "sa", ""));
        JdbcClusterEngine engine = new JdbcClusterEngine(dataSource, "shop");

        engine.initialize();

        assertThat(engine.isInitialized()).isFalse();
    }

    @Test
    void anUnknownDatabaseIsNamedBesideThoseThatAreKnown() throws Exception {
        DataSource dataSource = mock(DataSource.class, RETURNS_DEEP_STUBS);
        when(dataSource.getConnection().getMetaData().getDatabaseProductName()).thenReturn("Oracle");
        JdbcClusterEngine engine = new JdbcClusterEngine(dataSource, "shop");

        assertThatThrownBy(engine::schema)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("'Oracle'")
                .hasMessageContaining("PostgreSQL, MariaDB, MySQL, H2");
        assertThatThrownBy(engine::isInitialized).hasMessageContaining("'Oracle'");
        assertThatThrownBy(engine::initialize).hasMessageContaining("'Oracle'");
    }

    /** Each has collations that the other does not know. */
    @ParameterizedTest
    @CsvSource({"9.1.0, MySQL", "5.5.5-10.11.6-MariaDB, MariaDB"})
    void mariaDbIsKnownByTheDriverOfMySql(String version, String database) throws Exception {
        DataSource dataSource = mock(DataSource.class, RETURNS_DEEP_STUBS);
        when(dataSource.getConnection().getMetaData().getDatabaseProductName()).thenReturn("MySQL");
        when(dataSource.getConnection().getMetaData().getDatabaseProductVersion())
                .thenReturn(version);

        assertThat(new JdbcClusterEngine(dataSource, "shop").schema()).startsWith("-- " + database);
    }

    @ParameterizedTest
    @ValueSource(strings = {"t", "virtual_thread_limit", "APP.limits", "db.app.limits_7", "a$b", "_x", "7"})
    void aTableHasANameThatNeedsNoQuotes(String table) throws Exception {
        DataSource dataSource = mock(DataSource.class, RETURNS_DEEP_STUBS);
        when(dataSource.getConnection().getMetaData().getDatabaseProductName()).thenReturn("H2");

        assertThat(new JdbcClusterEngine(dataSource, "shop", table).schema())
                .contains("create table if not exists " + table + " (");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", " ", "a b", "a;drop table b", "a.", ".a", "a..b", "a.b.c.d", "\"a\"", "a-b", "\u00fc", "a\n"
            })
    void aTableWithAnotherNameIsAMistake(String table) {
        assertThatThrownBy(() -> new JdbcClusterEngine(mock(), "shop", table))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Property virtual-thread.cluster.jdbc.table must be the name of a table, with letters, digits, _"
                                + " and $, at most 200 characters and two dots, such as app.virtual_thread_limit, was '"
                                + table
                                + "'");
    }

    @Test
    void theNameOfATableHasAtMost200Characters() {
        assertThatCode(() -> new JdbcClusterEngine(mock(), "shop", "x".repeat(200)))
                .doesNotThrowAnyException();
        assertThatThrownBy(() -> new JdbcClusterEngine(mock(), "shop", "x".repeat(201)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    /** As an unnamed database of H2 is one for each connection, or a schema that is not searched. */
    @Test
    @Timeout(300)
    void aTableThatIsNotSeenAfterwardsIsCreatedOnce() throws Exception {
        JdbcDataSource unnamed = new JdbcDataSource();
        unnamed.setUrl("jdbc:h2:mem:");
        JdbcClusterEngine engine = new JdbcClusterEngine(unnamed, "shop");

        engine.initialize();

        assertThat(engine.isInitialized()).isFalse();
    }

    @Test
    void noConnectionIsOpenedBeforeItIsNeeded() {
        DataSource dataSource = mock();

        assertThat(new JdbcClusterEngine(dataSource, "shop").beat()).isEqualTo(Duration.ofMillis(500));

        verifyNoInteractions(dataSource);
    }
}
