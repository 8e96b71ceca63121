package io.github.virtualthread.actuate;

import static io.github.virtualthread.actuate.EndpointApplication.open;
import static io.github.virtualthread.actuate.EndpointApplication.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.github.virtualthread.actuate.EndpointApplication.Answer;
import io.github.virtualthread.execution.TaskBody;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimits;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;

/** What GET shows of keys: names only if the application says so. */
@Timeout(300)
class KeysTests {

    private static WebApplicationContextRunner shown() {
        return open().withPropertyValues("virtual-thread.endpoint.keys=true");
    }

    @Test
    void theNumberOfKeysIsShownAndTheirNamesAreNot() {
        run(open(), it -> {
            hold(it, "acme");
            submit(it, "acme");
            submit(it, "smith");

            assertThat(it.read("").<Integer>get("$.limits[0].keys")).isEqualTo(2);
            Answer answer = it.read("/price-db");
            assertThat(answer.<Integer>get("$.limit.keys")).isEqualTo(2);
            assertThat(answer.<Map<String, Object>>get("$")).doesNotContainKey("keys");
            assertThat(answer.body()).doesNotContain("acme").doesNotContain("smith");
        });
    }

    @Test
    void oneKeyIsNotShownUnlessTheApplicationSaysSo() {
        run(open(), it -> {
            it.read("/price-db?key=acme")
                    .assertRefused(
                            400,
                            "Keys are not shown: set virtual-thread.endpoint.keys to true to see the calls of one key");
        });
    }

    @Test
    void theWeightIsShownIfKeysHaveWeights() {
        run(shown().withPropertyValues("virtual-thread.limits.price-db.key-weights.smith=0.1"), it -> {
            hold(it, "acme");
            submit(it, "smith");
            submit(it, "smith");

            assertThat(it.read("/price-db").<List<Map<String, Object>>>get("$.keys"))
                    .extracting(key -> key.get("key"), key -> key.get("weight"))
                    .containsExactly(tuple("smith", 0.1), tuple("acme", 1.0));
        });
    }

    @Test
    void theBusiestKeysComeFirst() {
        run(shown(), it -> {
            hold(it, "acme");
            for (int i = 0; i < 3; i++) {
                submit(it, "smith");
            }
            submit(it, "acme");
            it.shop.price(() -> "without a key");

            Answer answer = it.read("/price-db");

            assertThat(answer.<List<Map<String, Object>>>get("$.keys"))
                    .extracting(key -> key.get("key"), key -> key.get("running"), key -> key.get("waiting"))
                    .containsExactly(tuple("smith", 0, 3), tuple("acme", 1, 1));
            assertThat(answer.<Map<String, Object>>get("$.keys[0]")).doesNotContainKey("weight");
            assertThat(answer.<List<Map<String, Object>>>get("$.calls"))
                    .extracting(call -> call.get("key"))
                    .containsExactly("acme", "smith", "smith", "smith", "acme", null);
        });
    }

    @Test
    void onlyTenKeysAreShown() {
        run(shown(), it -> {
            hold(it, "acme");
            for (int i = 0; i < 12; i++) {
                submit(it, "key" + i);
            }

            Answer answer = it.read("/price-db?max=1");

            assertThat(answer.<Integer>get("$.limit.keys")).isEqualTo(13);
            assertThat(answer.<List<?>>get("$.keys")).hasSize(10);
        });
    }

    @Test
    void oneKeyIsShownWithItsCallsOnly() {
        run(shown(), it -> {
            hold(it, "acme");
            for (int i = 0; i < 3; i++) {
                submit(it, "smith");
                submit(it, "acme");
            }

            Answer answer = it.read("/price-db?key=acme&max=3");

            assertThat(answer.<List<Map<String, Object>>>get("$.keys"))
                    .containsExactly(Map.of("key", "acme", "running", 1, "waiting", 3));
            assertThat(answer.<List<String>>get("$.calls[*].key")).containsExactly("acme", "acme", "acme");
            assertThat(answer.<List<String>>get("$.calls[*].state")).containsExactly("running", "waiting", "waiting");
            assertThat(answer.<Integer>get("$.more")).isEqualTo(1);
        });
    }

    @Test
    void aKeyWithoutCallsHasZeros() {
        run(shown(), it -> {
            Answer answer = it.read("/price-db?key=nobody");

            assertThat(answer.<List<Map<String, Object>>>get("$.keys"))
                    .containsExactly(Map.of("key", "nobody", "running", 0, "waiting", 0));
            assertThat(answer.<List<?>>get("$.calls")).isEmpty();
        });
    }

    @Test
    void callsWithoutALimitAreNotShownByKey() {
        run(shown(), it -> {
            Answer answer = it.read("/none?key=acme");

            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.message()).contains("name a limit, not 'none'");
        });
    }

    @Test
    void callsOfALimitWithinAreOfAnotherKey() {
        run(shown(), it -> {
            it.limit().resize(2);
            it.bean(TaskLimits.class).add(LimitSettings.of("report", 1).withWithin("price-db"));
            hold(it, "acme");
            hold(it, "report", "acme");

            Answer answer = it.read("/price-db?key=acme");

            assertThat(answer.<List<?>>get("$.calls")).hasSize(1);
            assertThat(answer.<Integer>get("$.more")).isZero();
        });
    }

    private static void hold(EndpointApplication it, String key) throws Exception {
        hold(it, "price-db", key);
    }

    private static void hold(EndpointApplication it, String limit, String key) throws Exception {
        it.hold(body -> submit(it, limit, key, body::call));
    }

    private static void submit(EndpointApplication it, String key) {
        assertThat(submit(it, "price-db", key, () -> "")).isNotDone();
    }

    private static CompletableFuture<?> submit(EndpointApplication it, String limit, String key, TaskBody body) {
        TaskEngine engine = it.bean(TaskEngine.class);
        return engine.submit(engine.keyed(engine.spec("Shop.report", limit), key), body);
    }
}
