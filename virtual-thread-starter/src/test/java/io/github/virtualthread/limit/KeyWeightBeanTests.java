package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.limit.TaskLimit.KeyUse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Where the weight of a key comes from, and when it is asked for. */
@Timeout(300)
class KeyWeightBeanTests extends WeighedCalls {

    @Test
    void aKeyThatIsNotNamedHasTheWeightOfTheBean() {
        TaskLimit limit = limit(API);
        KeyWeight weight = (name, key) -> {
            assertThat(name).isEqualTo("api");
            return switch (key) {
                case "silver" -> 2;
                case "nothing" -> Double.NaN;
                case "much" -> 1000;
                case "little" -> 0.01;
                case "gold" -> 5;
                default -> throw new IllegalStateException("unknown");
            };
        };
        assertThat(limit.weight("silver")).isEqualTo(1);
        weight.customize(limit);

        assertThat(limit.weight("silver")).isEqualTo(2);
        assertThat(limit.weight("nothing")).isEqualTo(1);
        assertThat(limit.weight("much")).isEqualTo(10);
        assertThat(limit.weight("little")).isEqualTo(0.1);
        assertThat(limit.weight("acme")).isEqualTo(1);
        assertThat(limit.weight("gold")).as("named").isEqualTo(3);
        assertThat(order(limit, "silver silver silver acme acme"))
                .containsExactly("silver", "silver", "acme", "silver", "acme");
    }

    @Test
    void anErrorOfTheBeanIsAWeightOfOne() {
        TaskLimit limit = limit(API);
        KeyWeight weight = (name, key) -> {
            throw new StackOverflowError(key);
        };
        weight.customize(limit);

        assertThat(order(limit, "acme acme bolt")).containsExactly("acme", "bolt", "acme");
    }

    /** It may log, take locks, block, and ask this very limit. */
    @Test
    void theBeanIsAskedWithoutTheLock() {
        TaskLimit limit = limit(API);
        List<String> asked = new ArrayList<>();
        KeyWeight weight = (name, key) -> {
            asked.add(key);
            assertThat(CompletableFuture.supplyAsync(() -> Call.asked(limit).leaveQueue()))
                    .succeedsWithin(2, TimeUnit.MINUTES);
            return 2;
        };
        weight.customize(limit);
        Call.asked(limit);

        Call.asked(limit, "acme");
        Call.asked(limit, "acme");
        Call.asked(limit, "gold");
        limit.change(now -> now.withKeyWeights(Map.of()));

        assertThat(asked).as("once for the calls of a key").containsExactlyInAnyOrder("acme", "batch", "gold");
        assertThat(limit.key("gold").weight()).isEqualTo(2);
    }

    /** Its calls go on with what it is then. */
    @Test
    void aKeyIsWeighedAgainWhenItHasHadNoCalls() {
        TaskLimit limit = limit(API);
        AtomicInteger weighed = new AtomicInteger();
        KeyWeight weight = (name, key) -> weighed.incrementAndGet();
        weight.customize(limit);

        Call.asked(limit, "acme").giveBack();
        Call.asked(limit, "acme");

        assertThat(limit.key("acme").weight()).isEqualTo(2);
    }

    @Test
    void aBeanIsEnough() {
        TaskLimit limit = limit(LimitSettings.of("api", 1));
        assertThat(limit.weight("gold")).isNull();
        KeyWeight weight = (name, key) -> key.equals("gold") ? 2 : 1;
        weight.customize(limit);

        assertThat(order(limit, "acme acme gold gold gold")).containsExactly("acme", "gold", "gold", "acme", "gold");
        limit.change(now -> now.withKeyWeights(Map.of("acme", 4.0)));
        assertThat(limit.weight("acme")).isEqualTo(4);
    }

    @Test
    void weightsChangeWhileCallsWait() {
        TaskLimit limit = limit(API);
        Call first = Call.asked(limit);
        List<Call> waiting = new ArrayList<>();
        for (String key : "gold gold gold acme acme acme acme".split(" ")) {
            waiting.add(asked(limit, key));
        }
        limit.change(now -> now.withKeyWeights(Map.of("acme", 2.0)));
        assertThat(limit.busiestKeys(2)).containsExactly(new KeyUse("acme", 0, 4, 2.0), new KeyUse("gold", 0, 3, 1.0));
        first.giveBack();
        for (int i = 0; i < 7; i++) {
            waiting.stream().filter(Call::holdsPermit).findFirst().orElseThrow().giveBack();
        }

        String taken = String.join(" ", order);
        assertThat(taken).isEqualTo("gold acme acme gold acme acme gold");
        limit.change(now -> now.withKeyWeights(Map.of()));
        assertThat(limit.weight("acme")).isEqualTo(1);
        limit.change(now -> now.withKeyWeights(Map.of("acme", 5.0)));
        assertThat(limit.weight("acme")).isEqualTo(5);
    }

    @Test
    void aLimitThatBeganWithoutWeightsGetsNone() {
        TaskLimit limit = limit(LimitSettings.of("api", 1));

        assertThatThrownBy(() -> limit.change(now -> now.withKeyWeights(Map.of("gold", 3.0))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Limit 'api': key-weights cannot be added while the application runs; set it in the properties,"
                                + " and restart the application");
        assertThat(limit.settings().keyWeights()).isEmpty();
    }

    @Test
    void theWeightIsShownWhereThereAreWeights() {
        TaskLimit limit = limit(LimitSettings.of("api", 1).withKeyWeights(Map.of("batch", 0.1)));
        Call.asked(limit, "batch");
        Call.asked(limit, "acme");

        assertThat(limit.key("batch")).isEqualTo(new KeyUse("batch", 1, 0, 0.1));
        assertThat(limit.key("acme")).isEqualTo(new KeyUse("acme", 0, 1, 1.0));
        assertThat(limit).hasToString("api (1 permit, weights of 1 key, unbounded queue, unbounded wait)");
    }
}
