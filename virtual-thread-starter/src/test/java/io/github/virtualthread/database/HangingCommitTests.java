package io.github.virtualthread.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.execution.TaskListener.StatementOutcome;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** A commit that takes ten minutes: its permit comes back before. */
@Timeout(600)
@Tag("slow")
@ExtendWith(OutputCaptureExtension.class)
class HangingCommitTests {

    private static final int POOL = 4;

    private static EmbeddedPostgres postgres;
    private static JdbcTemplate monitor;

    private StoppedCalls calls;

    @BeforeAll
    static void startDatabase() throws IOException {
        postgres = TestPostgres.start();
        monitor = new JdbcTemplate(postgres.getPostgresDatabase());
        monitor.execute("create table sold (x int)");
        monitor.execute("create function wait() returns trigger language plpgsql as"
                + " $$ begin perform pg_sleep(600); return null; end $$");
        monitor.execute("create constraint trigger late after insert on sold deferrable initially deferred"
                + " for each row execute function wait()");
    }

    @AfterAll
    static void stopDatabase() throws IOException {
        postgres.close();
    }

    @BeforeEach
    void open() {
        calls = new StoppedCalls(
                postgres.getJdbcUrl("postgres", "postgres") + "&ApplicationName=calls", POOL, StoppedCalls.LONG);
    }

    @AfterEach
    void close() {
        calls.close();
        monitor.queryForList("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'calls'");
        await().atMost(StoppedCalls.LONG).until(() -> committing() == 0);
    }

    private static int committing() {
        return monitor.queryForObject(
                "select count(*) from pg_stat_activity where application_name = 'calls' and state = 'active' and query ilike 'commit'",
                Integer.class);
    }

    private void stopCommits() {
        TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(calls.pool));
        List<CompletableFuture<@Nullable Object>> all = new ArrayList<>();
        for (int i = 0; i < POOL; i++) {
            all.add(calls.submit(() -> {
                transaction.executeWithoutResult(status -> calls.jdbc.update("insert into sold values (1)"));
                return null;
            }));
        }
        await().atMost(StoppedCalls.LONG).until(() -> committing() == POOL);
        all.forEach(call -> assertThat(call.cancel(true)).isTrue());
    }

    @Test
    void aCommitHasHalfAMinute(CapturedOutput output) {
        stopCommits();
        long begin = System.nanoTime();
        assertThat(calls.limit.available()).isZero();

        calls.awaitAllPermits();

        Duration took = Duration.ofNanos(System.nanoTime() - begin);
        assertThat(took).isBetween(Duration.ofSeconds(29), StoppedCalls.LONG);
        assertThat(calls.outcomes).hasSize(POOL).containsOnly(StatementOutcome.INTERRUPTED);
        await().atMost(StoppedCalls.LONG).untilAsserted(() -> assertThat(output)
                .contains("Its commit did not end within 30s. Its connection is lost, and whether it is committed is"
                        + " unknown although the permit of limit 'db' is free for other calls"));
        System.out.println("COMMIT permits back after " + took);
        assertThat(calls.ask("select 1")).as("the pool has others").isEqualTo("1");
    }

    @Test
    void anOperatorForcesIt(CapturedOutput output) {
        stopCommits();

        calls.engine.liveCalls().running().forEach(live -> assertThat(
                        calls.engine.liveCalls().insist(live.call()))
                .isTrue());

        await().atMost(StoppedCalls.LONG).until(() -> calls.limit.available() == POOL);
        await().atMost(StoppedCalls.LONG).untilAsserted(() -> assertThat(output)
                .contains(
                        "Its commit was interrupted, because the call was stopped once more. Its connection is lost"));
    }

    @Test
    void theStopOfTheApplicationForcesIt() {
        stopCommits();
        long begin = System.nanoTime();

        calls.engine.stop(Duration.ofMillis(1));

        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(20));
        await().atMost(Duration.ofSeconds(20)).until(() -> calls.limit.available() == POOL);
    }

    /** Its calls have not been stopped before. */
    @Test
    void aCommitThatTheStopOfTheApplicationMeetsIsForcedAMomentLater() {
        try (StoppedCalls patient = new StoppedCalls(
                postgres.getJdbcUrl("postgres", "postgres") + "&ApplicationName=calls", 1, StoppedCalls.LONG)) {
            TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(patient.pool));
            CompletableFuture<@Nullable Object> call = patient.submit(() -> {
                transaction.executeWithoutResult(status -> patient.jdbc.update("insert into sold values (1)"));
                return null;
            });
            await().atMost(StoppedCalls.LONG).until(() -> committing() == 1);

            patient.engine.stop(Duration.ofMillis(1));

            assertThat(call).isDone();
            await().atMost(Duration.ofSeconds(20)).until(() -> patient.limit.available() == 1);
        }
    }
}
