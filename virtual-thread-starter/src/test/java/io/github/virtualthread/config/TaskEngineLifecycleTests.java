package io.github.virtualthread.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("jdk")
class TaskEngineLifecycleTests {

    private final List<String> events = new ArrayList<>();
    private final TaskEngineLifecycle lifecycle = new TaskEngineLifecycle();

    @Test
    void theWatchEndsThoughTheEngineCannotBeStopped() {
        OutOfMemoryError thrown = new OutOfMemoryError();
        add("watch");
        lifecycle.add(() -> {}, () -> {
            throw thrown;
        });

        assertThatThrownBy(lifecycle::stop).isSameAs(thrown);

        assertThat(events).containsExactly("watch stops");
    }

    @Test
    void whatIsAddedLaterStartsAtOnceAndStopsFirst() {
        add("watch");
        assertThat(events).isEmpty();

        lifecycle.start();
        add("engine");
        lifecycle.stop();

        assertThat(events).containsExactly("watch starts", "engine starts", "engine stops", "watch stops");
    }

    @Test
    void whatIsAddedAfterTheStopStopsAtOnceAndStartsWithTheOthers() {
        lifecycle.start();
        lifecycle.stop();

        add("engine");
        lifecycle.start();

        assertThat(events).containsExactly("engine stops", "engine starts");
    }

    private void add(String part) {
        lifecycle.add(() -> events.add(part + " starts"), () -> events.add(part + " stops"));
    }
}
