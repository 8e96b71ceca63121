package io.github.virtualthread.docs.observing;

import io.github.virtualthread.execution.TaskCall;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.limit.LimitExceededException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.springframework.stereotype.Component;

// example: RejectionCounter
@Component
class RejectionCounter implements TaskListener {

    private final Map<String, LongAdder> rejected = new ConcurrentHashMap<>();

    @Override
    public void rejected(TaskCall call, LimitExceededException rejection) {
        rejected.computeIfAbsent(call.spec().name(), method -> new LongAdder()).increment();
    }

    long rejected(String method) {
        return rejected.getOrDefault(method, new LongAdder()).sum();
    }
}
// end
