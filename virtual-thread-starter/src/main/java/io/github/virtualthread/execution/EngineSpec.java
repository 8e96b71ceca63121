package io.github.virtualthread.execution;

import io.github.virtualthread.limit.KeyedPlace;
import io.github.virtualthread.limit.TaskLimit;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A spec of an engine, with what its calls need in order to run. */
final class EngineSpec extends TaskSpec {

    /** Threads of this name. */
    final TaskThreads.Named threads;

    /** The engine of the calls: held here, once for all of them. */
    final EngineParts parts;

    /** Key of the call, and permit that its thread holds; null if this is for many calls. */
    final @Nullable KeyedPlace place;

    /** What all calls of this name share, the same for all of them. */
    final TaskSpec shared;

    EngineSpec(
            String name,
            @Nullable TaskLimit limit,
            @Nullable Duration timeout,
            @Nullable Duration deadline,
            TaskThreads.Named threads,
            EngineParts parts) {
        super(name, limit, timeout, deadline);
        this.threads = threads;
        this.parts = parts;
        this.place = null;
        this.shared = this;
    }

    private EngineSpec(EngineSpec spec, KeyedPlace place) {
        super(spec);
        this.threads = spec.threads;
        this.parts = spec.parts;
        this.place = place;
        this.shared = spec.shared;
    }

    /** The spec itself: there are no others. */
    static EngineSpec of(TaskSpec spec) {
        return switch (spec) {
            case EngineSpec own -> own;
        };
    }

    /**
     * Returns the spec of one call with a key, or with a permit that its thread already holds: calls that have neither need no
     * field for it.
     */
    EngineSpec forOneCall(@Nullable String key, @Nullable TaskLimit held) {
        return new EngineSpec(this, new KeyedPlace(key, held));
    }

    /** Returns the spec of another call with the same key: two calls cannot have one place. */
    EngineSpec forNextCall() {
        return place == null ? this : forOneCall(place.key(), null);
    }

    /** Key of the call, null if it has none. */
    @Nullable
    String key() {
        return place == null ? null : place.key();
    }
}
