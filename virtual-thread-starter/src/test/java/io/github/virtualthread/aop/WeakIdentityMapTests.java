package io.github.virtualthread.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.aop.WovenCalls.WeakIdentityMap;
import java.lang.ref.WeakReference;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;

@Timeout(value = 300, threadMode = ThreadMode.SEPARATE_THREAD) // also ends what cannot be interrupted
class WeakIdentityMapTests {

    private final WeakIdentityMap<String> map = new WeakIdentityMap<>();

    @Test
    void equalObjectsAreNotTheSame() {
        List<String> first = List.of("equal");
        List<String> second = List.of("equal");
        map.put(first, "first");

        assertThat(map.get(first)).isEqualTo("first");
        assertThat(map.get(second)).isNull();
    }

    @Test
    void theLastValueOfAnObjectCounts() {
        Object key = new Object();
        map.put(key, "first");
        map.put(key, "second");

        assertThat(map.get(key)).isEqualTo("second");
        assertThat(map.values.size()).isEqualTo(1);
    }

    @Test
    void anObjectIsNotKeptAliveNorIsItsEntry() {
        Object key = new Object();
        WeakReference<Object> gone = new WeakReference<>(key);
        map.put(key, "value");
        key = new Object();

        Object other = key;
        while (gone.get() != null && !Thread.currentThread().isInterrupted()) {
            System.gc();
        }
        // what was found to be gone is handed over a moment later
        do {
            Thread.yield();
            map.put(other, "other");
        } while (map.values.size() > 1 && !Thread.currentThread().isInterrupted());
        assertThat(map.values.size()).isEqualTo(1);
        assertThat(map.get(other)).isEqualTo("other");
    }
}
