package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.core.task.TaskRejectedException;
import org.springframework.util.SerializationUtils;

@Timeout(300)
@Tag("jdk")
class TaskLimitsTests extends TimedLimits {

    @Test
    void findsALimitInAnySpellingOfItsName() {
        TaskLimits limits = limits(LimitSettings.of("price-db", 3));

        assertThat(limits.get("PRICEDB")).isSameAs(limits.get("price_db"));
        assertThat(limits.get("priceDb").name()).isEqualTo("price-db");
    }

    @Test
    void showsTheSettings() {
        TaskLimit limit = limits(LimitSettings.of("db", 3).withQueueCapacity(7).withMaxWait(Duration.ofSeconds(2)))
                .get("db");

        assertThat(limit.permits()).isEqualTo(3);
        assertThat(limit.available()).isEqualTo(3);
        assertThat(limit.queueCapacity()).isEqualTo(7);
        assertThat(limit.maxWait()).isEqualTo(Duration.ofSeconds(2));
    }

    @Test
    void listsTheNamesInOrder() {
        assertThat(limits(LimitSettings.of("b", 1), LimitSettings.of("A-x", 1), LimitSettings.of("c", 1))
                        .names())
                .containsExactly("A-x", "b", "c");
    }

    @Test
    void tellsWhichLimitsThereAre() {
        TaskLimits limits = limits(LimitSettings.of("report", 1), LimitSettings.of("mail", 1));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> limits.get("mial"))
                .withMessage("No limit 'mial' is configured; the configured limits are [mail, report]");
    }

    @Test
    void refusesTwoSpellingsOfOneName() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> limits(LimitSettings.of("price-db", 1), LimitSettings.of("priceDb", 2)))
                .withMessageContaining("must neither be declared twice")
                .withMessageContaining("priceDb");
    }

    @Test
    void rejectsWhoWaitsUnderAllLimits() {
        TaskLimits limits = limits(LimitSettings.of("a", 1), LimitSettings.of("b", 1));
        List<Call> a = Call.asked(limits.get("a"), 3);
        List<Call> b = Call.asked(limits.get("b"), 2);

        limits.rejectWaiting();

        assertThat(List.of(a.get(1), a.get(2), b.get(1))).allSatisfy(call -> assertThat(call.rejected)
                .succeedsWithin(Duration.ofMinutes(2))
                .isEqualTo(Reason.SHUTDOWN));
    }

    @Test
    void aRefusalTellsTheNumbersOfAFullQueue() {
        TaskLimit limit = limits(LimitSettings.of("db", 2).withQueueCapacity(1)).get("db");
        Call.asked(limit, 3);

        LimitExceededException refusal = new LimitExceededException("Shop.price", limit, Reason.QUEUE_FULL);

        assertThat(refusal)
                .isInstanceOf(TaskRejectedException.class)
                .hasMessage("Shop.price was rejected (QUEUE_FULL): limit db (2 permits, queue of 1, unbounded wait)"
                        + " has 0 permits free and 1 calls waiting; raise its permits if the resource can take"
                        + " more, raise its queue-capacity for bursts, or send fewer calls");
        assertThat(refusal.limit()).isEqualTo("db");
        assertThat(refusal.task()).isEqualTo("Shop.price");
        assertThat(refusal.reason()).isEqualTo(Reason.QUEUE_FULL);
    }

    @Test
    void aRefusalTellsHowLongACallMayWait() {
        TaskLimit limit = limits(LimitSettings.of("db", 2).withMaxWait(Duration.ofMillis(1500)))
                .get("db");

        assertThat(new LimitExceededException("Shop.price", limit, Reason.WAIT_TIMEOUT))
                .hasMessage("Shop.price was rejected (WAIT_TIMEOUT): limit db (2 permits, unbounded queue, wait up to"
                        + " 1.5s) has 2 permits free and 0 calls waiting; raise its permits if the resource can take"
                        + " more, raise its max-wait, or send fewer calls");
    }

    @Test
    void aRefusalOfALimitWithThePermitsOfAPoolTellsToEnlargeThePool() {
        TaskLimit limit = limits(LimitSettings.of("db", 2).withPermitsFrom(new PermitsFrom("dataSource", 0)))
                .get("db");

        assertThat(new LimitExceededException("Shop.price", limit, Reason.WAIT_TIMEOUT))
                .hasMessageEndingWith("; enlarge its pool 'dataSource' if the resource can take more,"
                        + " raise its max-wait, or send fewer calls");
    }

    @Test
    void aRefusalHasTheNumbersOfItsMomentWheneverItIsRead() {
        TaskLimit limit = limits(LimitSettings.of("db", 2).withQueueCapacity(1)).get("db");
        List<Call> calls = Call.asked(limit, 3);
        LimitExceededException refusal = new LimitExceededException("Shop.price", limit, Reason.QUEUE_FULL);

        calls.get(2).leaveQueue();
        calls.get(0).giveBack();
        limit.resize(7);

        assertThat(refusal)
                .hasMessageContaining("db (2 permits, queue of 1,")
                .hasMessageContaining("has 0 permits free and 1 calls");
    }

    /** A hundred thousand may be made at once: each stack would take a kilobyte, and tell of the thread that made it. */
    @Test
    void aRefusalHasNoStack() {
        LimitExceededException refusal = new LimitExceededException("Shop.price", null, Reason.SHUTDOWN);

        assertThat(refusal.getStackTrace()).isEmpty();
    }

    @Test
    void aRefusalCanBeSentToAnotherJvm() {
        TaskLimit limit = limits(LimitSettings.of("db", 2)
                        .withMaxWait(Duration.ofSeconds(1))
                        .withPermitsFrom(new PermitsFrom("pool", 2)))
                .get("db");
        LimitExceededException refusal = new LimitExceededException("Shop.price", limit, Reason.WAIT_TIMEOUT);

        assertThat(SerializationUtils.clone(refusal)).hasMessage(refusal.getMessage());
    }

    @Test
    void aRefusalAtShutdownSaysSo() {
        assertThatExceptionOfType(LimitExceededException.class)
                .isThrownBy(() -> {
                    throw new LimitExceededException("Shop.price", null, Reason.SHUTDOWN);
                })
                .withMessage(
                        "Shop.price was rejected (SHUTDOWN): the application is stopping and accepts no more calls")
                .satisfies(refusal -> assertThat(refusal.limit()).isEqualTo("none"));
    }
}
