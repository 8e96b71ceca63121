package io.github.virtualthread.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.virtualthread.execution.LiveCall;
import io.github.virtualthread.jdbc.FakeDriver.Held;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Bodies that are stopped while they commit: nothing cancels a commit. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class CommitStopTests extends DriverCalls {

    /** How a body commits. */
    private static void commit(Connection connection, String how) throws SQLException {
        if (how.equals("commit")) {
            connection.commit();
        } else {
            connection.setAutoCommit(true);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"commit", "setAutoCommit"})
    void aCommitEndsByItself(String how) throws Exception {
        Duration longest = Duration.ofMillis(5);
        Held commit = driver.hold(how);
        Connection connection = connection(new Times(longest, longest, longest, ENOUGH));

        stop(commit, () -> commit(connection, how));

        letPass(longest.multipliedBy(20));
        commit.end.complete(null);
        assertThat(caught()).isNull();
        assertThat(flag.join()).isTrue();
        assertThat(test.outcomes).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"commit", "setAutoCommit"})
    void aCommitThatHangsIsInterrupted(String how, CapturedOutput output) throws Exception {
        Connection connection = connection(new Times(ENOUGH, ENOUGH, ENOUGH, SHORT));

        stop(driver.hold(how), () -> commit(connection, how));

        assertInterrupted();
        assertThat(flag.join()).isTrue();
        assertWarned(
                output,
                1,
                "Shop.price was cancelled under limit 'none'. Its commit did not end within 0.05s. Its connection is lost, and"
                        + " whether it is committed is unknown: look for its rows in the database");
    }

    private enum Again {
        CANCEL {
            @Override
            void stop(JdbcEngine test, CompletableFuture<?> call) {
                call.cancel(true);
            }
        },
        OPERATOR {
            @Override
            void stop(JdbcEngine test, CompletableFuture<?> call) {
                LiveCall live = test.engine.liveCalls().running().get(0);
                assertThat(test.engine.liveCalls().insist(live.call())).isTrue();
            }
        },
        END_OF_THE_APPLICATION {
            @Override
            void stop(JdbcEngine test, CompletableFuture<?> call) {
                test.engine.close();
            }
        };

        abstract void stop(JdbcEngine test, CompletableFuture<?> call);
    }

    @ParameterizedTest
    @EnumSource
    void aSecondStopInterruptsACommitAtOnce(Again again, CapturedOutput output) throws Exception {
        Connection connection = connection(PATIENT);
        CompletableFuture<@Nullable Object> call = stop(driver.hold("commit"), connection::commit);

        again.stop(test, call);

        assertInterrupted();
        assertWarned(output, 1, "Its commit was interrupted, because the call was stopped once more. Its connection");
    }

    /** Nobody has stopped its call before. */
    @Test
    @Tag("slow")
    void theEndOfTheApplicationLeavesACommitAMoment() throws Exception {
        Held commit = driver.hold("commit");
        Connection connection = connection(PATIENT);
        CompletableFuture<@Nullable Object> call = body(connection::commit);
        commit.awaitBegin();

        test.engine.stop(Duration.ofMillis(1));

        assertInterrupted();
        assertThat(call).isDone();
    }

    /** By its timeout: its future has failed before the operator comes. */
    @Test
    void anOperatorEndsTheCommitOfACallThatHasTimedOut() throws Exception {
        Held commit = driver.hold("commit");
        Connection connection = connection(PATIENT);
        CompletableFuture<@Nullable Object> call =
                test.engine.submit(test.engine.spec("Shop.price", null, SHORT), () -> {
                    caught.complete(catchThrowable(connection::commit));
                    return null;
                });
        commit.awaitBegin();
        assertThat(call).failsWithin(ENOUGH);

        Again.OPERATOR.stop(test, call);

        assertThat(caught()).hasMessage("I/O error");
    }
}
