package io.github.virtualthread.database;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.database.StatementTable.Case;
import io.github.virtualthread.database.StatementTable.Dialect;
import io.github.virtualthread.database.StatementTable.Result;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** Whatever a body does when its timeout comes: none of its rows stays, and its connection is kept, unless it sends more. */
@Timeout(300)
@Tag("slow")
class StoppedTransactionTests {

    @Nested
    @TestInstance(Lifecycle.PER_CLASS)
    class Postgres {

        private EmbeddedPostgres postgres;
        private StatementTable table;

        @BeforeAll
        void start() throws IOException {
            postgres = TestPostgres.start();
            table = new StatementTable(
                    postgres.getJdbcUrl("postgres", "postgres"),
                    "postgres",
                    "",
                    new Dialect(
                            "select pg_backend_pid()",
                            "select pg_sleep(60)",
                            "insert into stopped select 7 from pg_sleep(60 + ?)",
                            "select generate_series(1, 1000000000)",
                            "select g, case when g > 15 then pg_sleep(60) end from generate_series(1, 1000) g",
                            "call slow()",
                            List.of(
                                    "create procedure slow() language plpgsql as $$ begin perform pg_sleep(60); end $$",
                                    "create table late (x int)",
                                    "create function wait() returns trigger language plpgsql as"
                                            + " $$ begin perform pg_sleep(0.8); return null; end $$",
                                    "create constraint trigger late after insert on late deferrable initially deferred"
                                            + " for each row execute function wait()")));
        }

        @AfterAll
        void stop() throws IOException {
            table.close();
            postgres.close();
        }

        @ParameterizedTest
        @EnumSource
        void noRowStaysAndTheConnectionDoes(Case what) throws Exception {
            Result result = table.run(what);

            assertThat(result.rows()).isEmpty();
            assertKept(what, result);
        }

        /** The caller gets the TimeoutException all the same. */
        @Test
        void aCommitThatHasBegunEnds() throws Exception {
            Result result = table.commit("insert into late values (8)");

            assertThat(result.caught()).isNull();
            assertThat(table.jdbc.queryForList("select x from late", Integer.class))
                    .containsExactly(8);
            assertThat(result.connectionKept()).isTrue();
        }
    }

    @Nested
    @TestInstance(Lifecycle.PER_CLASS)
    class H2 {

        private static final String SLOW =
                "select count(*) from system_range(1, 1000000000) a, system_range(1, 1000000000) b";

        private StatementTable table;

        @BeforeAll
        void start() {
            table = new StatementTable(
                    "jdbc:h2:mem:stopped;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=60000",
                    "sa",
                    "",
                    new Dialect(
                            "select session_id()",
                            SLOW,
                            // ends by itself: H2 does not cancel a batch
                            "insert into stopped select 7 + ? from system_range(1, 20000000) a where mod(a.x, 2) = 2",
                            "select x from system_range(1, 1000000000)",
                            null,
                            "call (" + SLOW + ")",
                            List.of()));
        }

        @AfterAll
        void stop() {
            table.close();
        }

        /** Without a slow fetch: all rows are there before the first is read. */
        @ParameterizedTest
        @EnumSource(names = "SLOW_FETCH", mode = Mode.EXCLUDE)
        void noRowStaysAndTheConnectionDoes(Case what) throws Exception {
            Result result = table.run(what);

            assertThat(result.rows()).isEmpty();
            assertKept(what, result);
        }
    }

    /** A statement that is refused may be to clean up the session, so it ends that. */
    private static void assertKept(Case what, Result result) {
        assertThat(result.connectionKept())
                .as(result.toString())
                .isEqualTo(what != Case.INTERRUPT_SWALLOWED_THEN_INSERT);
    }
}
