package io.github.virtualthread.execution;

import io.github.virtualthread.limit.TaskTimer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Tasks that begin and end within one call of their caller, which waits for them. For one use. */
final class FanOut<T extends @Nullable Object> {

    private final TaskEngine engine;
    private final List<Child> children = new ArrayList<>();
    private final CountDownLatch decided = new CountDownLatch(1);
    private final AtomicInteger settled = new AtomicInteger();
    private final AtomicInteger open;

    /**
     * Creates the tasks, without starting them.
     *
     * @param recipes name and limit of each
     */
    FanOut(TaskEngine engine, List<? extends Callable<? extends T>> bodies, Function<Object, Recipe> recipes) {
        this.engine = engine;
        this.open = new AtomicInteger(bodies.size());
        for (Callable<? extends T> body : bodies) {
            children.add(new Child(recipes.apply(body), TaskBody.of(body)));
        }
    }

    /** Returns all values, in the order of the bodies. The first failure ends the other tasks. */
    @SuppressWarnings("unchecked") // a child has the value of its callable
    List<T> all() throws Exception {
        List<Child> failed =
                run(Child::hasFailed).stream().filter(Child::hasFailed).toList();
        if (!failed.isEmpty()) {
            throw first(failed);
        }
        return children.stream().map(child -> (T) child.future().resultNow()).toList();
    }

    /** Returns the first value, which ends the other tasks. */
    @SuppressWarnings({"unchecked", "NullAway"}) // a child has the value of its callable, null only if that may be
    T any() throws Exception {
        List<Child> known = run(child -> !child.hasFailed());
        for (Child child : known) {
            if (!child.hasFailed()) {
                return (T) child.future().resultNow();
            }
        }
        throw first(known);
    }

    /**
     * Returns when all have ended: the tasks that were complete when the result was decided, in the order of their
     * completion.
     */
    private List<Child> run(Predicate<Child> decisive) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("interrupted before any of %d tasks began".formatted(children.size()));
        }
        for (Child child : children) {
            Future<?> unused = child.future().whenComplete((value, failure) -> settle(child, failure, decisive));
        }
        int submitted = 0;
        try {
            while (submitted < children.size() && decided.getCount() > 0) {
                engine.submit(children.get(submitted));
                submitted++; // not if that has thrown: a task that never began never ends
            }
            if (!children.isEmpty()) {
                decided.await();
            }
            return children.stream()
                    .filter(child -> child.rank > 0)
                    .sorted(Comparator.comparingInt(child -> child.rank))
                    .toList();
        } finally {
            for (int index = 0; index < children.size(); index++) {
                cancel(children.get(index)); // also the one whose submission threw: it may have begun
            }
            awaitEnd(submitted);
        }
    }

    /** Also cancels if memory is short, because the caller waits for the end. */
    private static void cancel(Child child) {
        while (true) {
            try {
                child.future().cancel(true);
                return;
            } catch (OutOfMemoryError noRoom) {
                TaskTimer.pause();
            }
        }
    }

    /** Allocates nothing, because the caller waits for this. */
    private void settle(Child child, @Nullable Throwable failure, Predicate<Child> decisive) {
        child.failure = failure;
        child.rank = settled.incrementAndGet();
        if (open.decrementAndGet() == 0 || decisive.test(child)) {
            decided.countDown();
        }
    }

    /** No task outlives the call, so an interrupt does not end this wait. */
    private void awaitEnd(int submitted) {
        boolean interrupted = false;
        for (int index = 0; index < submitted; ) {
            try {
                children.get(index).ended.await();
                index++;
            } catch (InterruptedException again) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Returns the first failure, with the others attached that came before the rest was cancelled. The caller is still on the
     * stack, so its trace is made only now.
     */
    private Exception first(List<Child> failed) {
        Throwable first = failed.get(0).thrown();
        for (Child other : failed.subList(1, failed.size())) {
            Failures.suppress(first, other.thrown());
        }
        if (engine.parts().callerTrace()) {
            new CallerTrace(failed.get(0).spec().name()).addTo(first);
        }
        return Failures.asException(first);
    }

    /** Its future is complete when the caller may go on; this also knows when it has really ended and its permit is back. */
    private static final class Child extends Task {

        private final CountDownLatch ended = new CountDownLatch(1);
        private @Nullable Throwable failure; // written before the rank
        private volatile int rank; // position in the order of completion; 0 while it is incomplete

        Child(Recipe recipe, TaskBody body) {
            super(recipe, body, null);
        }

        boolean hasFailed() {
            return failure != null;
        }

        Throwable thrown() {
            return TaskFuture.thrown(Objects.requireNonNull(failure));
        }

        @Override
        void letGo() {
            try {
                super.letGo();
            } finally {
                ended.countDown();
            }
        }
    }
}
