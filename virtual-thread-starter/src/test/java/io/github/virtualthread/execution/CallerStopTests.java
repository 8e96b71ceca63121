package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Calls on the thread of their caller while the application stops. */
@Timeout(300)
@Tag("jdk")
class CallerStopTests {

    @RegisterExtension
    private final TestEngine test = new TestEngine(LimitSettings.of("db", 1));

    private final CountDownLatch release = test.latch();

    private Caller holder() {
        CountDownLatch running = new CountDownLatch(1);
        Caller holder = Caller.virtual(test, "db", () -> {
            running.countDown();
            release.await();
            return "held";
        });
        TestEngine.await(running);
        return holder;
    }

    @Test
    void aCallerThatWaitsBehindATaskIsPutOut() {
        test.hold("db", release);
        Caller waiting = Caller.virtual(test, "db", () -> "ran").waiting(test, "db", 1);

        test.engine.stop(TestEngine.NO_TIME);

        assertRejected(waiting.outcome, Reason.SHUTDOWN);
        assertThat(test.limit("db").available()).isEqualTo(1);
    }

    @Test
    void aCallerThatWaitsBehindAnotherCallerIsPutOut() {
        Caller holder = holder();
        Caller waiting = Caller.virtual(test, "db", () -> "ran").waiting(test, "db", 1);

        test.engine.stop(TestEngine.NO_TIME);

        assertRejected(waiting.outcome, Reason.SHUTDOWN);
        assertThat(holder.outcome).isNotDone(); // its thread is not ours
        release.countDown();
        assertThat(holder.outcome).succeedsWithin(2, TimeUnit.MINUTES);
        assertThat(test.limit("db").available()).isEqualTo(1);
    }

    @Test
    void aCallerThatWaitsGetsItsPermitWithinThePeriod() throws Exception {
        holder();
        Caller waiting = Caller.virtual(test, "db", () -> "ran").waiting(test, "db", 1);
        Thread stopping = test.stopping(TestEngine.ENOUGH);
        TestEngine.awaitDraining(test);

        release.countDown();

        assertThat(waiting.outcome).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo("ran");
        assertThat(stopping.join(TestEngine.ENOUGH)).isTrue();
    }

    @Test
    void aCallerThatComesAfterTheEndRunsWhereAPermitIsFreeAndWaitsNever() throws Throwable {
        test.engine.stop(TestEngine.NO_TIME);
        assertThat(test.engine.call(test.engine.spec("Test.call", "db"), () -> "ran"))
                .isEqualTo("ran");
        holder();

        assertRejected(Caller.virtual(test, "db", () -> "ran").outcome, Reason.SHUTDOWN);

        assertThat(test.limit("db").waiting()).isZero();
    }

    @Test
    void callersWaitAgainAfterARestart() {
        test.engine.stop(TestEngine.NO_TIME);
        test.engine.start();
        test.hold("db", release);
        Caller waiting = Caller.virtual(test, "db", () -> "ran").waiting(test, "db", 1);

        release.countDown();

        assertThat(waiting.outcome).succeedsWithin(2, TimeUnit.MINUTES);
    }
}
