package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
@Tag("jdk")
class TaskTableTests {

    private final TestEngine test = new TestEngine();
    private final TaskTable<Task> table = new TaskTable<>();

    @AfterEach
    void close() {
        test.close();
    }

    @Test
    void whoeverHasComeIsThereUntilItLeaves() {
        List<Task> tasks = tasks(3);
        List<Integer> places = IntStream.range(0, 3)
                .mapToObj(i -> table.enter(tasks.get(i), i))
                .toList();

        assertThat(table.all()).containsExactlyInAnyOrderElementsOf(tasks);

        table.leave(places.get(1));

        assertThat(table.all()).containsExactlyInAnyOrder(tasks.get(0), tasks.get(2));
    }

    @Test
    void thereIsRoomForAllAtPlacesOfTheirOwn() {
        List<Task> tasks = tasks(10_000);
        Set<Integer> places = IntStream.range(0, tasks.size())
                .mapToObj(i -> table.enter(tasks.get(i), i))
                .collect(Collectors.toSet());

        assertThat(places).hasSize(10_000);
        assertThat(Set.copyOf(table.all())).isEqualTo(Set.copyOf(tasks));

        places.forEach(table::leave);

        assertThat(table.all()).isEmpty();
    }

    /** Threads that start one after the other find their places at the first attempt, far from each other. */
    @Test
    void numbersInARowLeadToPlacesFarApart() {
        Task task = tasks(1).get(0);
        for (long first : new long[] {0, 1_000_000, Integer.MAX_VALUE, 1L << 40}) {
            TaskTable<Task> empty = new TaskTable<>();
            int[] places = IntStream.range(0, 32)
                    .map(i -> empty.enter(task, first + i))
                    .sorted()
                    .toArray();

            assertThat(places).doesNotHaveDuplicates();
            assertThat(places[places.length - 1])
                    .as("the last place, without growth")
                    .isLessThan(128);
            for (int i = 0; i + 2 < places.length; i++) {
                assertThat(places[i + 2] - places[i])
                        .as("neighbours of place %d", places[i])
                        .isGreaterThan(2);
            }
        }
    }

    /** A number is where the search begins: those that have the same one, or came around to it, find room all the same. */
    @Test
    void thereIsRoomForAllWithOneNumber() {
        List<Task> tasks = tasks(1_000);
        tasks.forEach(task -> table.enter(task, 7));

        assertThat(table.all()).containsExactlyInAnyOrderElementsOf(tasks);
    }

    /** Those that left before it grew have left room: a table need not grow for many that come one after the other. */
    @Test
    void aPlaceIsTakenAgain() {
        Set<Integer> places = new HashSet<>();
        Task task = tasks(1).get(0);
        for (int i = 0; i < 10_000; i++) {
            int place = table.enter(task, i);
            table.leave(place);
            places.add(place);
        }

        assertThat(places).hasSizeLessThanOrEqualTo(64);
    }

    @Test
    void noneOfThoseThatStayIsMissedWhileOthersComeAndGo() throws Exception {
        List<Task> stay = tasks(500);
        List<Task> pass = tasks(4);
        CyclicBarrier start = new CyclicBarrier(5);
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            List<Future<?>> passing = new ArrayList<>();
            for (Task task : pass) {
                passing.add(threads.submit(() -> {
                    start.await();
                    for (int i = 0; i < 20_000; i++) {
                        table.leave(
                                table.enter(task, ThreadLocalRandom.current().nextInt()));
                    }
                    return null;
                }));
            }
            start.await();
            for (int i = 0; i < stay.size(); i++) {
                table.enter(stay.get(i), i);
                assertThat(table.all()).containsAll(stay.subList(0, i + 1));
            }
            for (Future<?> done : passing) {
                done.get();
            }
        }

        assertThat(table.all()).containsExactlyInAnyOrderElementsOf(stay);
    }

    /** Who makes the table larger may be a virtual thread, which may have no carrier. */
    @Test
    void nobodyWaitsForSomebodyElseToMakeItLarger() {
        List<Task> tasks = tasks(64);
        CompletableFuture<Void> entered = new CompletableFuture<>();
        table.growth.lock();
        try {
            Thread.ofPlatform().daemon().start(() -> {
                tasks.forEach(task -> table.enter(task, Thread.currentThread().threadId()));
                entered.complete(null);
            });

            assertThat(entered).succeedsWithin(2, TimeUnit.MINUTES);
        } finally {
            table.growth.unlock();
        }
        assertThat(table.all()).hasSize(64);
    }

    private List<Task> tasks(int number) {
        TaskSpec spec = test.engine.spec("Shop.price", null);
        return Stream.generate(() -> new Task(spec, () -> null, null))
                .limit(number)
                .toList();
    }
}
