package io.github.virtualthread.config;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;

import io.github.virtualthread.execution.CallWatch;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

@Order(Integer.MAX_VALUE) // it mocks
class TaskEngineLifecycleTests {

    @Test
    void theWatchEndsThoughTheEngineCannotBeStopped() {
        TaskEngine engine = mock(TaskEngine.class);
        CallWatch watch = mock(CallWatch.class);
        OutOfMemoryError thrown = new OutOfMemoryError();
        doThrow(thrown).when(engine).stop(any());

        assertThatThrownBy(() -> new TaskEngineLifecycle(engine, mock(TaskLimits.class), Duration.ZERO, watch).stop())
                .isSameAs(thrown);

        verify(watch).stop();
    }
}
