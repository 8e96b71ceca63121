package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.cluster.ClusterWorld.Beginning;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.timer.TaskTimer;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Every order of events among replicas that share a limit, to a depth, on the real code: never more permits than there are, lent or
 * used alone, also when only some replicas reach the engine. Greater depths by {@code -Dorders.more=1}, which takes minutes.
 *
 * <p>A call that runs when its lease ends is counted no more: what had begun before is not promised.
 */
@Tag("slow")
@EnabledForJreRange(min = JRE.JAVA_25) // once: on Java 21 the rest of the package shows the same code
@Timeout(value = 60, unit = TimeUnit.MINUTES)
class ClusterOrdersTests {

    private static final int MORE = Integer.getInteger("orders.more", 0);

    @ParameterizedTest
    @CsvSource({
        "2, 6, WAIT, COLD", "2, 6, WAIT, ALL_LENT", "2, 6, LOCAL_SHARE, ALL_LENT", "2, 6, LOCAL_SHARE, ALL_ALONE",
        "3, 5, WAIT, ALL_LENT", "3, 5, LOCAL_SHARE, ALL_LENT", "3, 5, LOCAL_SHARE, ALL_ALONE",
                "3, 5, LOCAL_SHARE, TWO_LENT"
    })
    void neverMoreThanThereAre(int replicas, int depth, OnFailure onFailure, Beginning beginning) {
        Orders orders = new Orders(replicas, depth + MORE, onFailure, beginning);

        orders.walk();

        System.out.printf("%d events of %d replicas, states %s%n", orders.depth, replicas, orders.states);
        assertThat(orders.violations).isEmpty();
        assertThat(orders.most.get()).as("all are lent at times").isGreaterThanOrEqualTo(replicas);
    }

    /**
     * Walks along all of them, by their length. Of two orders that lead to the same state, one goes on. As no world can be copied, each
     * order is walked from the beginning.
     */
    private static final class Orders {

        /** The others lend nothing more, so that they cannot be the last of an order that breaks the promise. */
        private static final Pattern MAY_LEND = Pattern.compile("^(start|exchange|travel|pass|lost|alone)");

        private final LimitSettings settings;
        private final int depth;
        private final OnFailure onFailure;
        private final Beginning beginning;
        private final TaskTimer timer = new TaskTimer("orders");
        private final List<Integer> states = new ArrayList<>();
        private final AtomicInteger most = new AtomicInteger();
        private final Queue<String> violations = new ConcurrentLinkedQueue<>();

        /** What has happened, and what can happen then. */
        private record Order(List<String> events, List<String> next) {}

        Orders(int replicas, int depth, OnFailure onFailure, Beginning beginning) {
            this.settings = LimitSettings.of("partner", replicas)
                    .withClusterPermits(replicas)
                    .withQueueCapacity(100);
            this.depth = depth;
            this.onFailure = onFailure;
            this.beginning = beginning;
        }

        void walk() {
            Set<String> seen = ConcurrentHashMap.newKeySet();
            List<Order> orders = List.of(new Order(List.of(), after(List.of()).events()));
            for (int length = 1; length <= depth && violations.isEmpty(); length++) {
                boolean isLast = length == depth;
                orders = orders.parallelStream()
                        .flatMap(order -> longer(order, isLast, seen).stream())
                        .toList();
                states.add(isLast ? 0 : orders.size());
            }
            timer.close();
        }

        /** Adds each event that can happen then. */
        private List<Order> longer(Order order, boolean isLast, Set<String> seen) {
            List<Order> all = new ArrayList<>();
            for (String event : order.next()) {
                if (isLast && !MAY_LEND.matcher(event).find()) {
                    continue;
                }
                ClusterWorld world = after(order.events());
                world.happens(event);
                List<String> longer = new ArrayList<>(order.events());
                longer.add(event);
                most.accumulateAndGet(world.lent(), Math::max);
                String wrong = world.wrong();
                if (wrong != null) {
                    violations.add(wrong + " after " + String.join("; ", longer));
                } else if (!isLast && seen.add(world.state())) {
                    all.add(new Order(longer, world.events()));
                }
            }
            return all;
        }

        private ClusterWorld after(List<String> order) {
            ClusterWorld world = new ClusterWorld(settings, onFailure, timer);
            world.begin(beginning);
            order.forEach(world::happens);
            return world;
        }
    }
}
