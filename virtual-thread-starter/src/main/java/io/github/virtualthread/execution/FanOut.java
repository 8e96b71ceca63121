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

/** Tasks that begin and end within one call of their caller, who waits for them. For one use. */
final class FanOut<T extends @Nullable Object> {

    private final TaskEngine engine;
    private final List<Child> children = new ArrayList<>();
    private final CountDownLatch decided = new CountDownLatch(1);
    private final AtomicInteger settled = new AtomicInteger();
    private final AtomicInteger open;

    /**
     * Tasks that have not begun.
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

    /** The values of all, in the order in which they were given; the first failure ends the rest. */
    @SuppressWarnings("unchecked") // a child has the value of its callable
    List<T> all() throws Exception {
        List<Child> failed =
                run(Child::hasFailed).stream().filter(Child::hasFailed).toList();
        if (!failed.isEmpty()) {
            throw first(failed);
        }
        return children.stream().map(child -> (T) child.future().resultNow()).toList();
    }

    /** The first value that comes, which ends the rest. */
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

    /** Returns when all have ended: those that were settled when it was decided, in the order in which that happened. */
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
                submitted++; // not where that has thrown: who never began never ends
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
                cancel(children.get(index)); // also the one whose submit has thrown: it may have begun
            }
            awaitEnd(submitted);
        }
    }

    /** Also where memory is short: the caller waits for the end. */
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

    /** Allocates nothing: the caller waits for this. */
    private void settle(Child child, @Nullable Throwable failure, Predicate<Child> decisive) {
        child.failure = failure;
        child.rank = settled.incrementAndGet();
        if (open.decrementAndGet() == 0 || decisive.test(child)) {
            decided.countDown();
        }
    }

    /** Nothing outlives the call, so an interrupt does not end this. */
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
     * The first failure itself, with the others attached that came before the rest was cancelled. The caller is still here:
     * its stack need not have been kept.
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

    /** Its future tells when its caller may go on, this tells when it has really ended, its permit given back. */
    private static final class Child extends Task {

        private final CountDownLatch ended = new CountDownLatch(1);
        private @Nullable Throwable failure; // written before the rank
        private volatile int rank; // the how many-th it was that was settled; 0 for none yet

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
