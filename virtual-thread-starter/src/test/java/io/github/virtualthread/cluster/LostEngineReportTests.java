package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.ClusterState;
import io.github.virtualthread.limit.TaskLimit.ClusterState.Lending;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.test.MemoryEngine;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** What the log says when the engine is lost, and when it is back. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class LostEngineReportTests {

    private static final String LOST = "The engine that lends permits to all replicas cannot be reached"
            + " (java.io.IOException: engine down): limit 'partner' %s. Check the engine and the network; as soon as it"
            + " answers, it lends permits again";

    private final MemoryEngine memory = new MemoryEngine(false);
    private final TaskTimer timer = new TaskTimer("timer");
    private final TaskLimits limits =
            new TaskLimits(List.of(LimitSettings.of("partner", 20).withClusterPermits(20)), timer, change -> {});
    private final TaskLimit limit = limits.get("partner");

    @AfterEach
    void close() {
        timer.close();
    }

    private ClusterShares shares(OnFailure onFailure, @Nullable Integer replicas) {
        ClusterShares shares = new ClusterShares(
                () -> memory,
                new ClusterSettings("shop", Duration.ofMillis(300), Duration.ofMillis(20), onFailure, replicas),
                timer);
        shares.add(limit);
        return shares;
    }

    @ParameterizedTest
    @CsvSource({
        "LOCAL_SHARE, goes on alone with 10 of 20 permits",
        "WAIT, lets its calls wait",
        "REJECT, rejects new calls"
    })
    void theLogSaysWhatCallsDoAndWhenTheEngineIsBack(OnFailure onFailure, String what, CapturedOutput output)
            throws Exception {
        Duration zero = Duration.ZERO;
        boolean unused = memory.exchange(List.of(
                        new Claim("partner", "zz", 1, 0, zero, 20, 0, 0, 0, 0, 0, zero, Duration.ofMinutes(10))))
                .isEmpty();
        ClusterShares shares = shares(onFailure, null);
        shares.start();
        await().atMost(Duration.ofMinutes(2)).until(() -> seesTheOther(onFailure));
        assertThat(output).doesNotContain("The engine that lends");

        memory.fail();
        await().atMost(Duration.ofMinutes(2)).until(() -> output.getAll().contains(LOST.formatted(what)));
        memory.heal();
        await().atMost(Duration.ofMinutes(2)).until(() -> output.getAll()
                .contains("The engine that lends permits to all replicas answers again: limit 'partner' has "));

        assertThat(output.getAll().lines().filter(line -> line.contains("The engine that lends")))
                .hasSize(2);
        assertThat(output.getAll().lines().filter(line -> line.contains(" WARN ") && line.contains("partner")))
                .hasSize(1);
        shares.stop();
    }

    /** Also in the records of the engine. */
    private boolean seesTheOther(OnFailure onFailure) {
        ClusterState state = limit.cluster();
        return state != null
                && state.lending() == Lending.LENT
                && state.members().size() == 2
                && state.members().getFirst().localShare() == (onFailure == OnFailure.LOCAL_SHARE ? 10 : 0);
    }

    @ParameterizedTest
    @CsvSource({
        "3, goes on alone with 6 of 20 permits",
        ", 'lets its calls wait, because this replica does not know how many there are: set virtual-thread.cluster.replicas'"
    })
    void anEngineThatWasNeverReachedIsReportedAtOnce(@Nullable Integer replicas, String what, CapturedOutput output) {
        memory.fail();
        ClusterShares shares = shares(OnFailure.LOCAL_SHARE, replicas);

        shares.start();

        await().atMost(Duration.ofMinutes(2)).until(() -> output.getAll().contains(LOST.formatted(what)));
        shares.stop();
    }

    @Test
    void aListenerThatThrowsEndsNoExchange() throws Exception {
        CountDownLatch exchanges = new CountDownLatch(3);
        ClusterShares shares = shares(OnFailure.WAIT, null);
        shares.listen(new ClusterShares.Listener() {
            @Override
            public void exchanged(Duration took, ClusterShares.Outcome outcome) {
                exchanges.countDown();
                throw new IllegalStateException("broken listener");
            }

            @Override
            public void lost() {
                throw new IllegalStateException("broken listener");
            }
        });

        shares.start();

        assertThat(exchanges.await(2, TimeUnit.MINUTES)).isTrue();
        shares.stop();
    }
}
