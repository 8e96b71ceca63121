package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Calls of keys with weights, and the order in which they begin. */
abstract class WeighedCalls extends TimedLimits {

    static final LimitSettings API = LimitSettings.of("api", 1).withKeyWeights(Map.of("gold", 3.0, "batch", 0.25));

    final List<String> order = new ArrayList<>();

    Call asked(TaskLimit limit, @Nullable String key) {
        Call call = new Call(limit, key, null) {
            @Override
            protected void granted() {
                order.add(String.valueOf(key));
                super.granted();
            }
        };
        assertThat(call.ask()).isNull();
        return call;
    }

    /** The keys in the order in which their calls go, one after the other; those named first have come first. */
    List<String> order(TaskLimit limit, String keys) {
        Call first = Call.asked(limit);
        List<Call> waiting = new ArrayList<>();
        for (String key : keys.split(" ")) {
            waiting.add(asked(limit, key.equals("null") ? null : key));
        }
        first.giveBack();
        while (!waiting.isEmpty()) {
            Call running = waiting.stream().filter(Call::holds).findFirst().orElseThrow();
            waiting.remove(running);
            running.giveBack();
        }
        return order;
    }
}
