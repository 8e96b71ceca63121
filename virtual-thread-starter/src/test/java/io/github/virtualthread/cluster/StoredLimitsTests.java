package io.github.virtualthread.cluster;

import static io.github.virtualthread.cluster.TestClaims.LONG;
import static io.github.virtualthread.cluster.TestClaims.claim;
import static io.github.virtualthread.cluster.TestClaims.goodbye;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.github.virtualthread.cluster.ClusterStore.Snapshot;
import io.github.virtualthread.cluster.ClusterStore.Text;
import io.github.virtualthread.test.MemoryStore;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Limits in a store: one exchange for all of them, and how it goes on when others replace a text meanwhile. */
class StoredLimitsTests {

    private final MemoryStore memory = new MemoryStore();
    private final List<String> seen = new ArrayList<>();
    private final StoredLimits limits = new StoredLimits(new Watched());
    private Step beforeOpen = limits -> {};
    private Step beforeReplace = limits -> {};
    private Map<String, String> notReplaced = Map.of();

    /** What others do meanwhile. */
    private interface Step {
        void run(StoredLimits limits) throws Exception;
    }

    /** The store in memory, where others come between. */
    private final class Watched implements ClusterStore, ClusterStore.Session {

        @Override
        public Session open() throws Exception {
            beforeOpen.run(new StoredLimits(memory));
            seen.add("open");
            return this;
        }

        @Override
        public Snapshot read(List<String> limits) {
            seen.add("read " + limits);
            return memory.read(limits);
        }

        @Override
        public Map<String, String> replace(Map<String, Text> texts) throws Exception {
            seen.add("replace " + texts.keySet());
            beforeReplace.run(new StoredLimits(memory));
            return notReplaced.isEmpty() ? memory.replace(texts) : notReplaced;
        }

        @Override
        public void close() {
            seen.add("close");
        }

        @Override
        public Duration beat() {
            return Duration.ofSeconds(7);
        }

        @Override
        public String toString() {
            return "memory";
        }
    }

    @Test
    void anExchangeIsOneLookAndOneChangeForAllLimits() throws Exception {
        limits.exchange(List.of(claim("mail", "a", 1), claim("partner", "a", 1)));

        assertThat(seen).containsExactly("open", "read [mail, partner]", "replace [mail, partner]", "close");
        assertThat(limits.beat()).isEqualTo(Duration.ofSeconds(7));
    }

    @Test
    void aGoodbyeInANewLimitStoresNothing() throws Exception {
        limits.exchange(List.of(goodbye("new", "a", 1)));

        assertThat(seen).containsExactly("open", "read [new]", "close");
    }

    @Test
    void onlyALimitThatOthersHaveReplacedIsReadAgain() throws Exception {
        beforeReplace = others -> {
            beforeReplace = nobody -> {};
            others.exchange(List.of(claim("partner", "b", 7)));
        };

        List<Answer> answers =
                limits.exchange(List.of(claim("mail", "a", 4), claim("partner", "a", 4), claim("fax", "a", 4)));

        assertThat(answers).extracting(Answer::share).containsExactly(4, 3, 4);
        assertThat(seen)
                .containsExactly(
                        "open",
                        "read [mail, partner, fax]",
                        "replace [mail, partner, fax]",
                        "read [partner]",
                        "replace [partner]",
                        "close");
    }

    @Test
    void aLimitThatOthersReplaceEachTimeRefusesItsOwnClaimOnly() throws Exception {
        long[] number = {0};
        beforeReplace = others -> others.exchange(List.of(claim("partner", "b", ++number[0], 0, 0, 0, LONG)));

        List<Answer> answers = limits.exchange(List.of(claim("partner", "a", 4), claim("mail", "a", 4)));

        assertThat(answers.get(0).refusal())
                .isEqualTo("Claim 1 of member 'a' for limit 'partner' was refused: in 20 attempts its ledger in memory"
                        + " was changed by others each time. The next claim may find it free; if this is repeated, too"
                        + " many replicas share the limit: set virtual-thread.cluster.beat to more, or use Redis");
        assertThat(answers.get(1).share()).isEqualTo(4);
        beforeReplace = nobody -> {};
        assertThat(limits.exchange(List.of(claim("partner", "c", 1))).getFirst().others())
                .extracting(Answer.Other::member)
                .containsExactly("b");
    }

    @Test
    void aTextThatTheStoreRefusesRefusesItsOwnClaimOnly() throws Exception {
        notReplaced = Map.of("partner", "it is too long");

        List<Answer> answers = limits.exchange(List.of(claim("mail", "a", 4), claim("partner", "a", 4)));

        assertThat(answers.get(0).share()).isEqualTo(4);
        assertThat(answers.get(1).refusal()).isEqualTo("Limit 'partner' could not be stored in memory: it is too long");
    }

    @Test
    void aTextOfSomethingElseRefusesItsOwnClaimOnlyAndStays() throws Exception {
        memory.replace(Map.of("odd", new Text(0, "something else")));

        List<Answer> answers =
                limits.exchange(List.of(claim("mail", "a", 4), claim("odd", "a", 4), claim("fax", "a", 4)));

        assertThat(answers).extracting(Answer::share).containsExactly(4, 0, 4);
        assertThat(answers.get(1).refusal())
                .isEqualTo("Limit 'odd' cannot be lent: its ledger in memory was not written by this version of the"
                        + " starter: 'something else'. Delete it while no replica of another version runs");
        assertThat(memory.read(List.of("odd")).texts().get("odd").text()).isEqualTo("something else");
    }

    @Test
    void aStoreThatFailsIsClosed() {
        beforeReplace = others -> {
            throw new IOException("broken");
        };

        assertThatThrownBy(() -> limits.exchange(List.of(claim("mail", "a", 4))))
                .hasMessage("broken");

        assertThat(seen).last().isEqualTo("close");
    }

    /** What a store of an application may forget, and what the log says then. */
    static Stream<Arguments> nulls() {
        Snapshot nameless = new Snapshot(0, null, true, Map.of());
        Map<String, Text> noText = new HashMap<>();
        noText.put("partner", null);
        return Stream.of(
                arguments("open", new Forgetful(false, null)),
                arguments("read", new Forgetful(true, null)),
                arguments("read", new Forgetful(true, nameless)),
                arguments("read", new Forgetful(true, new Snapshot(0, "", true, noText))),
                arguments("read", new Forgetful(true, new Snapshot(0, "", true, Map.of("partner", new Text(1, null))))),
                arguments("replace", new Forgetful(true, new Snapshot(0, "", true, Map.of()))));
    }

    /** Returns null from its method {@code replace}, and from others. */
    private record Forgetful(boolean opens, Snapshot snapshot) implements ClusterStore, ClusterStore.Session {

        @Override
        public Session open() {
            return opens ? this : null;
        }

        @Override
        public Snapshot read(List<String> limits) {
            return snapshot;
        }

        @Override
        public Map<String, String> replace(Map<String, Text> texts) {
            return null;
        }

        @Override
        public void close() {}
    }

    @ParameterizedTest
    @MethodSource("nulls")
    void aStoreThatReturnsNullIsNamedWithTheMethod(String method, ClusterStore store) {
        assertThatThrownBy(() -> new StoredLimits(store).exchange(List.of(claim("partner", "a", 4))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith(Forgetful.class.getName() + ": " + method + " returned ")
                .hasMessageContaining("null")
                .hasMessageEndingWith(
                        ". Let it return what ClusterStore says, or throw an exception if the server cannot"
                                + " be reached; ClusterStoreContract of the test kit shows what is wrong");
    }

    /** No other member has claimed meanwhile, whose claim would show that the clock is right. */
    @Test
    void theWaitForAConnectionIsNoStepOfTheClock() throws Exception {
        Duration lease = Duration.ofMillis(100);
        limits.exchange(List.of(claim("mail", "a", 1, 0, 0, 1, lease)));
        beforeOpen = others -> {
            long begun = System.nanoTime();
            while (System.nanoTime() - begun < lease.toNanos()) {
                LockSupport.parkNanos(lease.toNanos());
            }
            memory.pass(lease);
        };

        Answer answer =
                limits.exchange(List.of(claim("mail", "a", 2, 1, 1, 4, LONG))).getFirst();

        assertThat(answer.noGrowthFor()).isZero();
        assertThat(answer.share()).isEqualTo(4);
    }
}
