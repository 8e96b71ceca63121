package io.github.virtualthread.execution;

import io.github.virtualthread.limit.KeyedPlace;
import io.github.virtualthread.limit.TaskLimit;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A spec together with what its calls need in order to run. */
final class Recipe extends TaskSpec {

    /** Threads of this name. */
    final TaskThreads.Named threads;

    /** The engine of the calls: held here, once for all of them. */
    final EngineParts parts;

    /** Key of the call, and permit that its thread holds; null if this is for many calls. */
    final @Nullable KeyedPlace place;

    /** What all calls of this name share, the same for all of them. */
    final TaskSpec shared;

    Recipe(
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

    private Recipe(Recipe recipe, KeyedPlace place) {
        super(recipe);
        this.threads = recipe.threads;
        this.parts = recipe.parts;
        this.place = place;
        this.shared = recipe.shared;
    }

    /**
     * Returns the recipe of one call with a key, or with a permit that its thread already holds: calls that have neither need no
     * field for it.
     */
    Recipe forOneCall(@Nullable String key, @Nullable TaskLimit held) {
        return new Recipe(this, new KeyedPlace(key, held));
    }

    /** Returns the recipe of another call with the same key: two calls cannot have one place. */
    Recipe forNextCall() {
        return place == null ? this : forOneCall(place.key(), null);
    }

    /** Key of the call, null if it has none. */
    @Nullable
    String key() {
        return place == null ? null : place.key();
    }
}
