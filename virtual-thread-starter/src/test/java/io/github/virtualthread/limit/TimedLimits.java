package io.github.virtualthread.limit;

import io.github.virtualthread.timer.TaskTimer;
import java.util.List;
import org.junit.jupiter.api.AfterEach;

/** Makes the limits of a test, with a timer that ends with it. */
abstract class TimedLimits {

    final TaskTimer timer = new TaskTimer("timer");

    @AfterEach
    void closeTimer() {
        timer.close();
    }

    final TaskLimits limits(LimitSettings... settings) {
        return new TaskLimits(List.of(settings), timer, change -> {});
    }

    /** A limit without one around it. */
    final SemaphoreLimit semaphore(LimitSettings settings) {
        return new SemaphoreLimit(settings, null, timer, change -> {});
    }

    final TaskLimit limit(LimitSettings settings) {
        return limits(settings).get(settings.name());
    }
}
