package io.github.virtualthread.cluster;

import static io.github.virtualthread.cluster.TestApplication.until;
import static io.github.virtualthread.cluster.TestClaims.holding;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import io.github.virtualthread.cluster.ClusterShares.Outcome;
import io.github.virtualthread.execution.QueueAppender;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.ClusterState.Lending;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Engines that fail, hang or lie, by the clock of the machine: no call is lost, nobody is blocked, and all goes on afterwards. */
@Timeout(300)
class ClusterFaultsTests {

    private static final Duration NEVER = Duration.ofDays(1);
    private static final Duration SHORT = Duration.ofMillis(200);
    private static final Duration BEAT = Duration.ofMillis(10);

    /** What the engine gets, and how it ended. */
    private final BlockingQueue<Outcome> outcomes = new LinkedBlockingQueue<>();

    private final CompletableFuture<Void> lost = new CompletableFuture<>();
    private final AtomicInteger losses = new AtomicInteger();
    private final MemoryEngine memory = new MemoryEngine(false);
    private final CountedEngine counted = new CountedEngine(memory);
    private final TaskTimer timer = new TaskTimer("timer");
    private final List<String> lines = new ArrayList<>();

    @RegisterExtension
    private final QueueAppender log = new QueueAppender(TaskLimit.class, Level.INFO);

    private volatile Supplier<ClusterEngine> engines = () -> counted;
    private @Nullable ClusterShares shares;

    @AfterEach
    void close() {
        memory.heal();
        if (shares != null) {
            shares.stop();
        }
        timer.close();
        assertThat(counted.mostExchanging).as("exchanges at once").hasValueLessThanOrEqualTo(1);
        assertThat(counted.begunInterrupted)
                .as("exchanges of interrupted threads")
                .hasValue(0);
    }

    @Test
    void anEngineThatHangsIsInterruptedAndReplicasGoOnAlone() throws Exception {
        TaskLimit limit = share(SHORT, OnFailure.LOCAL_SHARE);
        begins(new Request(limit)).ends();
        MemoryEngine.Gate gate = memory.hang();
        gate.awaitArrival();
        lost.get(5, TimeUnit.MINUTES);

        begins(new Request(limit)).ends();
        assertThat(limit.cluster().lending()).isEqualTo(Lending.ALONE);
        gate.awaitArrival(); // the first has been interrupted
        assertThat(counted.interrupted).hasPositiveValue();
        memory.heal();
        gate.open();
        awaitLine(Level.INFO);
        begins(new Request(limit)).ends();
        assertThat(losses).hasValue(1);
        assertThat(lines).hasSize(2);
        assertThat(log.events).isEmpty();
        assertThat(lines.getFirst())
                .matches(
                        "The engine that lends permits to all replicas (does not answer|gives no answer \\(.+\\)): limit"
                                + " 'partner' goes on alone with 5 of 5 permits\\. Check .*");
        assertThat(lines.getLast())
                .startsWith("The engine that lends permits to all replicas answers again: limit 'partner' has ");
    }

    @ParameterizedTest
    @MethodSource("io.github.virtualthread.cluster.WrongEngines#all")
    void anEngineThatDoesNotAnswerAsItOughtToCountsAsAway(Supplier<ClusterEngine> wrong) throws Exception {
        CompletableFuture<Supplier<ClusterEngine>> made = new CompletableFuture<>();
        engines = () -> made.join().get();
        TaskLimit limit = share(NEVER, OnFailure.REJECT);
        Request call = new Request(limit);
        assertThat(call.asks()).isNull();
        made.complete(wrong);
        lost.get(5, TimeUnit.MINUTES);
        assertThat(new Request(limit).asks()).isEqualTo(Reason.NO_LEASE);
        assertThat(call.granted).isNotDone();
        assertThat(call.rejected).isNotDone();
        assertThat(limit.cluster().lending()).isEqualTo(Lending.LOST);

        engines = () -> counted;
        call.granted.get(5, TimeUnit.MINUTES);
        awaitLine(Level.INFO);
        assertThat(new Request(limit).asks()).isNull();
        assertThat(lines).hasSize(2);
        assertThat(log.events).isEmpty();
        assertThat(lines.getFirst()).contains(": limit 'partner' rejects new calls. Check");
    }

    @ParameterizedTest
    @CsvSource({
        "LOCAL_SHARE, 3, goes on alone with 1 of 5 permits",
        "LOCAL_SHARE, , 'lets its calls wait, because virtual-thread.cluster.replicas does not say how many replicas there are'",
        "LOCAL_SHARE, 6, 'lets its calls wait, because there are more replicas than permits'",
        "WAIT, 3, lets its calls wait",
        "REJECT, , rejects new calls"
    })
    void theLogSaysOnceWhatCallsDoAndOnceThatTheEngineIsBack(
            OnFailure onFailure, @Nullable Integer replicas, String what) throws Exception {
        memory.fail();
        share(new ClusterSettings("shop", NEVER, BEAT, onFailure, replicas), limit("partner"));
        awaitLine(Level.WARN);
        memory.heal();
        awaitLine(Level.INFO);

        assertThat(lines).hasSize(2);
        assertThat(log.events).isEmpty();
        assertThat(lines.getFirst())
                .isEqualTo("The engine that lends permits to all replicas gives no answer"
                        + " (java.io.IOException: engine down): limit 'partner' " + what + ". Check the engine and the"
                        + " network; as soon as it answers, it lends permits again");
        assertThat(lines.getLast())
                .startsWith("The engine that lends permits to all replicas answers again: limit 'partner' has ");
    }

    @Test
    void theLogSaysOnceThatANewLimitWaitsForALease() throws Exception {
        MemoryEngine server = new MemoryEngine(true);
        engines = () -> server;
        TaskLimit limit = share(NEVER, OnFailure.WAIT);
        assertThat(new Request(limit).asks()).isNull();
        awaitLine(Level.INFO);
        until(() -> server.exchanges().size() > 2);
        assertThat(log.events).isEmpty();

        assertThat(lines)
                .containsExactly(
                        "Limit 'partner' is lent no more permits for 24h, because the engine may not know of all calls that"
                                + " run");
        assertThat(limit.whyFull()).isEqualTo("nobody lends it permits");
    }

    @Test
    void anEngineThatFailsIsNotAskedByEachCall() throws Exception {
        AtomicInteger exchanges = new AtomicInteger();
        engines = () -> claims -> {
            exchanges.incrementAndGet();
            throw new IllegalStateException("broken engine");
        };
        TaskLimit limit = share(new ClusterSettings("shop", NEVER, NEVER, OnFailure.WAIT, null), limit("partner"));
        lost.get(5, TimeUnit.MINUTES);
        for (int i = 0; i < 1_000; i++) {
            assertThat(new Request(limit).asks()).isNull();
        }
        assertThat(exchanges).hasValue(1);
        assertThat(limit.waiting()).isEqualTo(1_000);
    }

    @Test
    void aRefusedClaimIsTheFailureOfOneLimit() throws Exception {
        AtomicBoolean refuses = new AtomicBoolean(true);
        engines = () -> claims -> {
            List<Answer> answers = new ArrayList<>(counted.exchange(claims));
            for (int i = 0; i < claims.size(); i++) {
                if (refuses.get() && claims.get(i).limit().equals("partner")) {
                    answers.set(i, Answer.refused("wrong type"));
                }
            }
            return answers;
        };
        TaskLimits limits = limits(settings(NEVER, OnFailure.REJECT), limit("partner"), limit("mail"));

        begins(new Request(limits.get("mail")));
        lost.get(5, TimeUnit.MINUTES);
        awaitLine(Level.WARN);

        assertThat(outcomes).contains(Outcome.ERROR);
        assertThat(new Request(limits.get("partner")).asks()).isEqualTo(Reason.NO_LEASE);
        assertThat(lines.getFirst())
                .startsWith("The engine that lends permits to all replicas refuses claims (wrong type): ")
                .contains("limit 'mail' has ")
                .contains("limit 'partner' rejects new calls");
        refuses.set(false);
        awaitLine(Level.INFO);
        begins(new Request(limits.get("partner")));
    }

    /** Its client may be closed next. */
    @Tag("slow")
    @Test
    void stopWaitsForAnExchangeThatHangsOnlyForAMomentAndInterruptsIt() throws Exception {
        asksAtEachBeat(share(NEVER, OnFailure.WAIT));
        memory.hang().awaitArrival();

        shares.stop(); // returns

        Outcome outcome = Outcome.SUCCESS;
        while (outcome == Outcome.SUCCESS) {
            outcome = outcomes.poll(1, TimeUnit.MINUTES);
        }
        assertThat(outcome).isEqualTo(Outcome.ERROR);
        assertThat(counted.interrupted).hasValue(1);
        shares.start();
        Thread.currentThread().interrupt();
        shares.stop();
        assertThat(Thread.interrupted()).as("the interrupt is kept").isTrue();
    }

    @Test
    void afterAStopNothingBeginsUntilItIsStartedAgain() throws Exception {
        TaskLimit limit = share(NEVER, OnFailure.WAIT);
        Request runs = begins(new Request(limit));
        shares.stop();
        assertThat(memory.members("partner")).extracting(Answer.Other::holds).containsExactly(1);
        int exchanges = memory.exchanges().size();
        Request waits = new Request(limit);
        assertThat(waits.asks()).isNull();
        runs.ends();
        shares.stop();
        assertThat(memory.exchanges()).as("it has said goodbye before").hasSize(exchanges);
        assertThat(waits.granted).isNotDone();

        shares.start();
        waits.granted.get(5, TimeUnit.MINUTES);
    }

    @Test
    void whoWasNeverStartedHasNothingToSay() {
        beforeStart(settings(NEVER, OnFailure.WAIT), limit("partner"));
        shares.stop();
        assertThat(memory.exchanges()).isEmpty();
    }

    /** A bean that is created waits for its call, and the engine is created when all beans are. */
    @Test
    void aCallBeforeTheStartGoesOnIfTheEngineCannotBeMadeUntilThen() throws Exception {
        CompletableFuture<ClusterEngine> made = new CompletableFuture<>();
        engines = made::join;
        TaskLimits limits = beforeStart(settings(SHORT, OnFailure.LOCAL_SHARE), limit("partner"));

        begins(new Request(limits.get("partner"))).ends();
        awaitLine(Level.WARN);
        assertThat(lines.getFirst()).contains("does not answer: limit 'partner' goes on alone with 5 of 5 permits");
        made.complete(memory);
    }

    @Test
    void aGoodbyeThatFailsIsNoFault() throws Exception {
        share(NEVER, OnFailure.WAIT);
        assertThat(outcomes.poll(5, TimeUnit.MINUTES)).isEqualTo(Outcome.SUCCESS);
        memory.fail();
        shares.stop();
        assertThat(log.events).isEmpty();
        assertThat(losses).hasValue(0);
    }

    @Test
    void aListenerThatFailsEndsNothing() throws Exception {
        TaskLimits limits = beforeStart(settings(Duration.ofSeconds(1), OnFailure.WAIT), limit("partner"));
        AtomicInteger told = new AtomicInteger();
        shares.listen(new ClusterShares.Listener() {
            @Override
            public void exchanged(Duration took, Outcome outcome) {
                if (told.incrementAndGet() < 3) {
                    throw new IllegalStateException("broken listener");
                }
            }

            @Override
            public void lost() {}
        });
        shares.start();
        asksAtEachBeat(limits.get("partner"));
        until(() -> told.get() >= 10);
    }

    private TaskLimit share(Duration lease, OnFailure onFailure) {
        return share(settings(lease, onFailure), limit("partner"));
    }

    private static ClusterSettings settings(Duration lease, OnFailure onFailure) {
        return new ClusterSettings("shop", lease, BEAT, onFailure, 1);
    }

    private static LimitSettings limit(String name) {
        return LimitSettings.of(name, 5).withQueueCapacity(10_000).withClusterPermits(5);
    }

    private TaskLimit share(ClusterSettings settings, LimitSettings... each) {
        return limits(settings, each).get(each[0].name());
    }

    private TaskLimits limits(ClusterSettings settings, LimitSettings... each) {
        TaskLimits limits = beforeStart(settings, each);
        shares.start();
        return limits;
    }

    private TaskLimits beforeStart(ClusterSettings settings, LimitSettings... each) {
        TaskLimits limits = new TaskLimits(List.of(each), timer, change -> {});
        shares = new ClusterShares(() -> engines.get(), settings, timer);
        shares.listen(new ClusterShares.Listener() {
            @Override
            public void exchanged(Duration took, Outcome outcome) {
                outcomes.add(outcome);
            }

            @Override
            public void lost() {
                losses.incrementAndGet();
                lost.complete(null);
            }
        });
        limits.all().forEach(shares::add);
        return limits;
    }

    /** A call waits, because another replica has one of the permits. */
    private void asksAtEachBeat(TaskLimit limit) throws Exception {
        memory.answer(holding("other", 5, 1, 1, 1));
        List<Request> calls = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            calls.add(new Request(limit));
            assertThat(calls.getLast().asks()).isNull();
        }
        calls.getFirst().granted.get(5, TimeUnit.MINUTES);
    }

    private static Request begins(Request call) throws Exception {
        assertThat(call.asks()).isNull();
        return call.granted.get(5, TimeUnit.MINUTES);
    }

    /** Reads what is logged, to the first line of this level. */
    private void awaitLine(Level level) throws InterruptedException {
        ILoggingEvent event;
        do {
            event = log.next();
            lines.add(event.getFormattedMessage());
        } while (!event.getLevel().equals(level));
    }
}
