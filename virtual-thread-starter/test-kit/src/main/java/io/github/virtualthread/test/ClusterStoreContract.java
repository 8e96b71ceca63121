package io.github.virtualthread.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.cluster.ClusterStore;
import io.github.virtualthread.cluster.ClusterStore.Session;
import io.github.virtualthread.cluster.ClusterStore.Snapshot;
import io.github.virtualthread.cluster.ClusterStore.Text;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What each {@link ClusterStore} has to do, whatever its server: extend it to test yours. */
@Timeout(300)
public abstract class ClusterStoreContract {

    private static final int THREADS = 4;
    private static final int ADDITIONS = 20; // of each

    private ClusterStore store;

    /** For the tests of a store. */
    protected ClusterStoreContract() {}

    /**
     * Returns a store without texts. Called once for each test.
     *
     * @return the store
     * @throws Exception if the server fails
     */
    protected abstract ClusterStore store() throws Exception;

    /**
     * Returns when so much time has passed on the clock of the server.
     *
     * @param duration the time
     * @throws Exception if that fails
     */
    protected void pass(Duration duration) throws Exception {
        long end = System.nanoTime() + duration.toNanos();
        while (System.nanoTime() - end < 0) {
            LockSupport.parkNanos(end - System.nanoTime());
        }
    }

    @BeforeEach
    void begin() throws Exception {
        store = store();
    }

    private Snapshot read(String... limits) throws Exception {
        try (Session session = store.open()) {
            return session.read(List.of(limits));
        }
    }

    private Text text(String limit) throws Exception {
        return read(limit).texts().getOrDefault(limit, new Text(0, ""));
    }

    private Map<String, String> replace(Map<String, Text> texts) throws Exception {
        try (Session session = store.open()) {
            return session.replace(texts);
        }
    }

    private Map<String, String> replace(String limit, long version, String text) throws Exception {
        return replace(Map.of(limit, new Text(version, text)));
    }

    @Test
    void aLimitWithoutATextIsNotThere() throws Exception {
        assertThat(read("partner").texts()).isEmpty();
    }

    @Test
    void returnsNoNull() throws Exception {
        try (Session session = store.open()) {
            assertThat(session).as("what open returns").isNotNull();
            assertThat(session.replace(Map.of("partner", new Text(0, "one"))))
                    .as("what replace returns")
                    .isNotNull();
            assertThat(session.read(List.of("partner", "mail")))
                    .as("what read returns")
                    .hasNoNullFieldsOrProperties();
        }
    }

    @Test
    void readsWhatWasStored() throws Exception {
        assertThat(replace("partner", 0, "one\ntwo %+\n")).isEmpty();

        assertThat(read("mail", "partner").texts()).containsOnlyKeys("partner");
        assertThat(text("partner").text()).isEqualTo("one\ntwo %+\n");
        assertThat(text("partner").version()).isNotZero();
    }

    @Test
    void replacesWhatWasRead() throws Exception {
        replace("partner", 0, "one");
        long first = text("partner").version();

        assertThat(replace("partner", first, "two")).isEmpty();

        assertThat(text("partner").text()).isEqualTo("two");
        assertThat(text("partner").version()).isNotEqualTo(first);
    }

    @Test
    void replacesNothingThatWasReplacedSince() throws Exception {
        replace("partner", 0, "one");
        long first = text("partner").version();
        replace("partner", first, "two");

        assertThat(replace("partner", first, "three")).isEqualTo(Map.of("partner", ""));

        assertThat(text("partner").text()).isEqualTo("two");
    }

    @Test
    void createsNothingThatIsThere() throws Exception {
        replace("partner", 0, "one");

        assertThat(replace("partner", 0, "two")).isEqualTo(Map.of("partner", ""));

        assertThat(text("partner").text()).isEqualTo("one");
    }

    @Test
    void oneThatIsNotReplacedHoldsUpNoOther() throws Exception {
        replace("partner", 0, "one");

        assertThat(replace(Map.of("partner", new Text(0, "two"), "mail", new Text(0, "two"))))
                .isEqualTo(Map.of("partner", ""));

        assertThat(text("mail").text()).isEqualTo("two");
    }

    /** As long as that of a hundred replicas with long names. */
    @Test
    void aTextMayBeLong() throws Exception {
        String text = "0123456789".repeat(5_000);

        replace("partner", 0, text);

        assertThat(text("partner").text()).isEqualTo(text);
    }

    @Test
    void namesMayHaveAnyCharacters() throws Exception {
        List<String> limits = List.of("a", "a-b", "a.b_c-D9", "A", "a:{b}, 100 % 'c' \u65e5", "a:" + "k".repeat(200));
        for (String limit : limits) {
            assertThat(replace(limit, 0, "text " + limits.indexOf(limit))).isEmpty();
        }

        assertThat(read(limits.toArray(String[]::new)).texts()).hasSameSizeAs(limits);
        assertThat(text("A").text()).isEqualTo("text 3");
    }

    @Test
    void timeGoesOnAndTheServerKeepsItsName() throws Exception {
        Snapshot first = read("partner");
        Snapshot second = read("partner");

        assertThat(second.now()).isGreaterThanOrEqualTo(first.now());
        assertThat(second.server()).isEqualTo(first.server());
        assertThat(second.isShared()).isEqualTo(first.isShared());
    }

    @Test
    void timeIsInMilliseconds() throws Exception {
        Duration second = Duration.ofSeconds(1);
        long begun = System.nanoTime();
        long before = read("partner").now();
        pass(second);
        Duration passed = Duration.ofMillis(read("partner").now() - before);
        Duration longest = Duration.ofNanos(System.nanoTime() - begun).plus(second);

        assertThat(passed).isBetween(second.dividedBy(2), longest);
    }

    /** Each adds one to a number, again and again: none is lost. */
    @Test
    void ofManyAtTheSameTimeOneReplaces() throws Exception {
        try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            List<Future<Void>> all = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                all.add(threads.submit(this::addEach));
            }
            for (Future<Void> each : all) {
                each.get();
            }
        }

        assertThat(text("partner").text()).isEqualTo(Integer.toString(THREADS * ADDITIONS));
    }

    private Void addEach() throws Exception {
        for (int added = 0; added < ADDITIONS; ) {
            try (Session session = store.open()) {
                Text before = session.read(List.of("partner")).texts().getOrDefault("partner", new Text(0, "0"));
                String more = Integer.toString(Integer.parseInt(before.text()) + 1);
                added += session.replace(Map.of("partner", new Text(before.version(), more)))
                                .isEmpty()
                        ? 1
                        : 0;
            }
        }
        return null;
    }
}
