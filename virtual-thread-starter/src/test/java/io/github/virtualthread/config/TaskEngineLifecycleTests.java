package io.github.virtualthread.config;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;

import io.github.virtualthread.cluster.ClusterShares;
import io.github.virtualthread.execution.CallWatch;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.StaticListableBeanFactory;

@Order(Integer.MAX_VALUE) // it mocks
class TaskEngineLifecycleTests {

    @Test
    void theWatchEndsThoughTheEngineCannotBeStopped() {
        TaskEngine engine = mock(TaskEngine.class);
        CallWatch watch = mock(CallWatch.class);
        OutOfMemoryError thrown = new OutOfMemoryError();
        doThrow(thrown).when(engine).stop(any());

        TaskEngineLifecycle lifecycle = new TaskEngineLifecycle(
                engine,
                mock(TaskLimits.class),
                Duration.ZERO,
                watch,
                new StaticListableBeanFactory().getBeanProvider(ClusterShares.class));

        assertThatThrownBy(lifecycle::stop).isSameAs(thrown);

        verify(watch).stop();
    }
}
