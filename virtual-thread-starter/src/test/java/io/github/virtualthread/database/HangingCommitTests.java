package io.github.virtualthread.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.execution.TaskListener.StatementOutcome;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Commits that take ten minutes: their permits come back before. */
@Timeout(600)
@Tag("slow")
@ExtendWith(OutputCaptureExtension.class)
class HangingCommitTests {

    private static final int POOL = 4;
    private static final String COMMITTING = "application_name = 'calls' and state = 'active' and query ilike 'commit'";

    @Test
    void aCommitHasHalfAMinute(CapturedOutput output) {
        String url = TestPostgres.newDatabase();
        JdbcTemplate monitor = TestPostgres.monitor(url);
        monitor.execute("create table sold (x int)");
        monitor.execute("create function wait() returns trigger language plpgsql as"
                + " $$ begin perform pg_sleep(600); return null; end $$");
        monitor.execute("create constraint trigger late after insert on sold deferrable initially deferred"
                + " for each row execute function wait()");
        try (StoppedCalls calls = new StoppedCalls(url + "&ApplicationName=calls", POOL, StoppedCalls.LONG)) {
            TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(calls.pool));
            List<CompletableFuture<@Nullable Object>> all = Stream.generate(() -> calls.submit(() -> {
                        transaction.executeWithoutResult(status -> calls.jdbc.update("insert into sold values (1)"));
                        return null;
                    }))
                    .limit(POOL)
                    .toList();
            await().atMost(StoppedCalls.LONG).until(() -> TestPostgres.sessions(monitor, COMMITTING) == POOL);

            all.forEach(call -> assertThat(call.cancel(true)).isTrue());
            long begin = System.nanoTime();
            assertThat(calls.limit.available()).isZero();
            calls.awaitAllPermits();

            Duration took = Duration.ofNanos(System.nanoTime() - begin);
            assertThat(took).isBetween(Duration.ofSeconds(29), StoppedCalls.LONG);
            assertThat(calls.outcomes).hasSize(POOL).containsOnly(StatementOutcome.INTERRUPTED);
            await().atMost(StoppedCalls.LONG).untilAsserted(() -> assertThat(output)
                    .contains(
                            "Its commit did not end within 30s. Its connection is lost, and whether it is committed is"
                                    + " unknown although the permit of limit 'db' is free for other calls"));
            System.out.println("COMMIT permits back after " + took);
            assertThat(calls.ask("select 1")).as("the pool has others").isEqualTo("1");
        } finally {
            monitor.queryForList("select pg_terminate_backend(pid) from pg_stat_activity"
                    + " where datname = current_database() and pid <> pg_backend_pid()");
        }
    }
}
