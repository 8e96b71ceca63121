package io.github.virtualthread.aop;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Remembers something of objects as long as they live, without keeping them alive, and never asks them whether they are
 * equal.
 *
 * <p>Thread-safe. The values must not refer to the keys.
 */
final class WeakIdentityMap<V> {

    private final Map<Object, V> values = new ConcurrentHashMap<>();
    private final ReferenceQueue<Object> gone = new ReferenceQueue<>();

    void put(Object key, V value) {
        for (Reference<?> each = gone.poll(); each != null; each = gone.poll()) {
            values.remove(each);
        }
        values.put(new Key(key, gone), value);
    }

    @Nullable
    V get(Object key) {
        // saves the object for the look-up where nothing is woven for a context
        return values.isEmpty() ? null : values.get(new Sought(key));
    }

    int size() {
        return values.size();
    }

    /** Equal to itself when its object is gone, so that it can still be removed. */
    private static final class Key extends WeakReference<Object> {

        private final int hash;

        Key(Object object, ReferenceQueue<Object> gone) {
            super(object, gone);
            hash = System.identityHashCode(object);
        }

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return this == other || (other instanceof Key key && get() != null && key.refersTo(get()));
        }
    }

    /** What a key is looked up by: needs no reference that the garbage collector would have to deal with. */
    private record Sought(Object object) {

        @Override
        public int hashCode() {
            return System.identityHashCode(object);
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Key key && key.refersTo(object);
        }
    }
}
