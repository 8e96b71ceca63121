package com.acme.queries;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.dao.DataAccessException;

/**
 * What a body does when its call is cancelled, and what stays of it: no row, and all sessions, but for those of bodies that send more.
 * Each is cancelled when it waits: a timeout could pass before, on a slow machine. {@link WaveTests} has timeouts.
 */
@Timeout(600)
class StoppedBodyTests extends StoppedBodies {

    /** What bodies do; each waits for its cancel, mostly in a statement that the server runs. */
    private enum Body {
        STATEMENT {
            @Override
            void run(At at) {
                at.jdbc.execute(at.slow());
            }
        },
        PREPARED_STATEMENT {
            @Override
            void run(At at) {
                at.jdbc.query(at.join() + " and ? = 1", (ResultSet row) -> {}, 1);
            }
        },
        CALLABLE_STATEMENT {
            @Override
            void run(At at) {
                at.onConnection(connection -> {
                    String call =
                            switch (at.database) {
                                case POSTGRES -> "call /*0*/ take_long()";
                                case MARIADB -> "call take_long()";
                                case H2 -> "call (%s)".formatted(at.slow());
                            };
                    try (CallableStatement statement = connection.prepareCall(call)) {
                        statement.execute();
                    }
                });
            }
        },
        BATCH {
            @Override
            void run(At at) {
                at.inTransaction(() -> at.jdbc.batchUpdate(
                        at.database == Database.POSTGRES
                                ? "insert /*0*/ into sold select ? from pg_sleep(60)"
                                : "insert /*0*/ into sold values (? + sleep(60))",
                        List.of(new Object[] {1}, new Object[] {2}, new Object[] {3})));
            }
        },
        BATCH_OF_UPDATES {
            @Override
            void run(At at) {
                at.inTransaction(() -> {
                    at.insert();
                    at.jdbc.batchUpdate(
                            at.database == Database.POSTGRES
                                    ? "update /*0*/ sold set number = ? from pg_sleep(60)"
                                    : "update /*0*/ sold set number = ? + sleep(60)",
                            List.of(new Object[] {1}, new Object[] {2}, new Object[] {3}));
                });
            }
        },
        BATCH_OF_STATEMENTS {
            @Override
            void run(At at) {
                at.inTransaction(() -> at.jdbc.batchUpdate("insert into sold values (1)", at.slow(), at.slow()));
            }
        },
        LARGE_RESULT {
            @Override
            void run(At at) {
                at.onConnection(connection -> {
                    try (Statement statement = connection.createStatement()) {
                        statement.setMaxRows(2_000_000_000);
                        statement.executeQuery(
                                at.database == Database.POSTGRES
                                        ? "select /*0*/ null from generate_series(1, 30000000)"
                                        : "select /*0*/ null from seq_1_to_30000000");
                    }
                });
            }
        },
        LOCKED_ROW {
            @Override
            void run(At at) throws Exception {
                at.jdbc.update("insert into locked values (1)");
                try (Connection other = at.database.connect()) {
                    other.setAutoCommit(false);
                    try (Statement statement = other.createStatement()) {
                        statement.execute("update locked set number = 2");
                        at.inTransaction(() -> {
                            at.insert();
                            at.jdbc.update("update /*0*/ locked set number = 3");
                        });
                    }
                }
            }
        },
        LOCKED_TABLE {
            @Override
            void run(At at) throws Exception {
                try (Connection other = at.database.connect()) {
                    other.setAutoCommit(false);
                    try (Statement statement = other.createStatement()) {
                        statement.execute("insert into locked values (2)");
                        at.jdbc.execute("alter /*0*/ table locked add other int");
                    }
                }
            }
        },
        TRANSACTION {
            @Override
            void run(At at) {
                at.inTransaction(() -> {
                    at.insert();
                    at.jdbc.execute(at.slow());
                });
            }
        },
        READ_ONLY_TRANSACTION {
            @Override
            void run(At at) {
                at.inTransaction(true, () -> at.jdbc.execute(at.slow()));
            }
        },
        COMMIT_AFTER_THE_FAILURE {
            @Override
            void run(At at) {
                at.inTransaction(() -> {
                    at.insert();
                    try {
                        at.jdbc.execute(at.slow());
                    } catch (DataAccessException swallowed) {
                        at.swallowed();
                    }
                });
            }
        },
        COMMIT_AFTER_AN_INTERRUPT {
            @Override
            void run(At at) {
                at.inTransaction(() -> {
                    at.insert();
                    at.swallowInterrupt();
                });
            }
        },
        INSERT_AFTER_AN_INTERRUPT {
            @Override
            void run(At at) {
                at.inTransaction(() -> {
                    at.insert();
                    at.swallowInterrupt();
                    at.insert();
                });
            }
        },
        PLAIN_INSERT_AFTER_THE_FAILURE {
            @Override
            void run(At at) {
                at.onConnection(connection -> {
                    try (Statement statement = connection.createStatement()) {
                        try {
                            statement.execute(at.slow());
                        } catch (SQLException swallowed) {
                            at.swallowed();
                        }
                        statement.execute("insert into sold values (1)");
                    }
                });
            }
        },
        BY_HAND {
            @Override
            void run(At at) {
                at.onConnection(connection -> {
                    connection.setAutoCommit(false);
                    try (Statement statement = connection.createStatement()) {
                        statement.execute("insert into sold values (1)");
                        statement.execute(at.slow());
                    } finally {
                        connection.setAutoCommit(true); // commits, as JDBC has it
                    }
                });
            }
        },
        ROWS_IN_PORTIONS_SLOW_IN_JAVA {
            @Override
            void run(At at) {
                at.readPortions(at.database.rows(300_000), () -> {
                    at.waits();
                    at.sleep(1);
                });
            }
        },
        ROWS_IN_PORTIONS_WITHOUT_A_PAUSE {
            @Override
            void run(At at) {
                // not too many at a time: MariaDB reads the rest when a result is closed, see below
                while (true) {
                    at.readPortions(at.database.rows(300_000), at::waits);
                }
            }
        };

        abstract void run(At at) throws Exception;
    }

    private static final Set<Body> SENDS_MORE =
            EnumSet.of(Body.INSERT_AFTER_AN_INTERRUPT, Body.PLAIN_INSERT_AFTER_THE_FAILURE);

    /** It cancels no batch, has all rows before it gives the first, and waits for a table as it does for a row. */
    private static final Set<Body> NOT_OF_H2 = EnumSet.of(
            Body.BATCH, Body.BATCH_OF_UPDATES, Body.BATCH_OF_STATEMENTS, Body.LARGE_RESULT, Body.LOCKED_TABLE);

    @BeforeAll
    static void createWhatBodiesUse() {
        for (Database database : Database.values()) {
            shop(database).jdbc.execute("create table locked (number int)");
        }
        shop(Database.POSTGRES)
                .jdbc
                .execute("create procedure take_long() language plpgsql as $$ begin perform pg_sleep(60); end $$");
        shop(Database.MARIADB).jdbc.execute("create procedure take_long() select /*0*/ sleep(60)");
    }

    private static Stream<Arguments> bodies() {
        return Stream.of(Database.values()).flatMap(database -> Stream.of(Body.values())
                .filter(body -> database != Database.H2 || !NOT_OF_H2.contains(body))
                .map(body -> Arguments.of(database, body)));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("bodies")
    void noRowStaysAndTheSessionIsKeptUnlessTheBodySendsMore(Database database, Body body) throws Exception {
        Shop shop = shop(database);
        Set<Long> before = shop.sessions();

        Throwable seen = stop(shop, body::run);

        Set<Long> after = shop.sessions();
        tell(shop, body.name(), seen, before, after);
        assertThat(shop.jdbc.queryForObject("select count(*) from sold", Integer.class))
                .isZero();
        // a statement that is refused may be to clean up the session, so it ends that
        assertThat(lost(before, after)).isEqualTo(SENDS_MORE.contains(body) ? 1 : 0);
        assertThat(after).hasSize(Shop.POOL);
    }
}
