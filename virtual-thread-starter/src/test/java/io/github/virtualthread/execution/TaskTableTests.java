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
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
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
        List<Integer> places = tasks.stream().map(table::enter).toList();

        assertThat(table.all()).containsExactlyInAnyOrderElementsOf(tasks);

        table.leave(places.get(1));

        assertThat(table.all()).containsExactlyInAnyOrder(tasks.get(0), tasks.get(2));
    }

    @Test
    void thereIsRoomForAllAtPlacesOfTheirOwn() {
        List<Task> tasks = tasks(10_000);
        Set<Integer> places = new HashSet<>(tasks.stream().map(table::enter).toList());

        assertThat(places).hasSize(10_000);
        assertThat(Set.copyOf(table.all())).isEqualTo(Set.copyOf(tasks));

        places.forEach(table::leave);

        assertThat(table.all()).isEmpty();
    }

    /** Those that left before it grew have left room: a table need not grow for many that come one after the other. */
    @Test
    void aPlaceIsTakenAgain() {
        Set<Integer> places = new HashSet<>();
        Task task = tasks(1).get(0);
        for (int i = 0; i < 10_000; i++) {
            int place = table.enter(task);
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
                        table.leave(table.enter(task));
                    }
                    return null;
                }));
            }
            start.await();
            for (int i = 0; i < stay.size(); i++) {
                table.enter(stay.get(i));
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
                tasks.forEach(table::enter);
                entered.complete(null);
            });

            assertThat(entered).succeedsWithin(2, TimeUnit.MINUTES);
        } finally {
            table.growth.unlock();
        }
        assertThat(table.all()).hasSize(64);
    }

    private List<Task> tasks(int number) {
        Recipe recipe = test.engine.recipe("Shop.price", null);
        return Stream.generate(() -> new Task(recipe, () -> null, null))
                .limit(number)
                .toList();
    }
}
