package io.github.virtualthread.limit;

import io.github.virtualthread.Internal;
import org.jspecify.annotations.Nullable;

/**
 * What only some requests have: a key, or a permit of a limit around theirs that their thread already holds. A place belongs to
 * one request.
 */
@Internal
public final class KeyedPlace extends LinkedNodes.Node<KeyedPlace> {

    final @Nullable String key;

    /** The nearest limit around that of the request of which its thread holds a permit: none is taken from there on. */
    final @Nullable TaskLimit held;

    /** The line of its key, while the request waits or runs. Guarded by the lock of the limit. */
    KeyTurns.@Nullable Line line;

    /** Null while it is not in the line. Guarded by the lock of the limit. */
    @Nullable
    PermitRequest request;

    /**
     * Creates the place of one request.
     *
     * @param key key of the request, null for none
     * @param held the nearest limit around that of the request of which its thread holds a permit, null for none
     */
    public KeyedPlace(@Nullable String key, @Nullable TaskLimit held) {
        this.key = key;
        this.held = held;
    }

    /**
     * Key of the request.
     *
     * @return the key, null for none
     */
    public @Nullable String key() {
        return key;
    }
}
