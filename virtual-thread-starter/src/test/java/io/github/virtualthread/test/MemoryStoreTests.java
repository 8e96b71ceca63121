package io.github.virtualthread.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.cluster.ClusterStore;
import io.github.virtualthread.cluster.ClusterStore.Text;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MemoryStoreTests extends ClusterStoreContract {

    private final MemoryStore store = new MemoryStore();

    @Override
    protected ClusterStore store() {
        return store;
    }

    @Override
    protected void pass(Duration duration) {
        store.pass(duration);
    }

    @Test
    void failsUntilItIsHealed() throws Exception {
        store.fail();
        assertThatThrownBy(store::open).isInstanceOf(IOException.class);

        store.heal();
        assertThat(store.open()).isNotNull();
    }

    @Test
    void forgetsAllTextsAndSaysThatSomeMayBeLost() {
        store.replace(Map.of("partner", new Text(0, "one")));
        assertThat(store.read(List.of("partner")).isShared()).isFalse();

        store.loseData();

        assertThat(store.read(List.of("partner")).texts()).isEmpty();
        assertThat(store.read(List.of("partner")).isShared()).isTrue();
    }
}
