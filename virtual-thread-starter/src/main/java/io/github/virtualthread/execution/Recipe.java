package io.github.virtualthread.execution;

import io.github.virtualthread.limit.TaskLimit;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A spec together with what its calls need in order to run. */
final class Recipe extends TaskSpec {

    private final TaskThreads.Named threads;
    private final EngineParts parts;

    Recipe(
            String name,
            @Nullable TaskLimit limit,
            @Nullable Duration timeout,
            TaskThreads.Named threads,
            EngineParts parts) {
        super(name, limit, timeout);
        this.threads = threads;
        this.parts = parts;
    }

    /** Threads of this name. */
    TaskThreads.Named threads() {
        return threads;
    }

    /** The engine of the calls: held here, once for all of them. */
    EngineParts parts() {
        return parts;
    }
}
