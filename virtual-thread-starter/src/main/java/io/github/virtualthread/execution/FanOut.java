package io.github.virtualthread.execution;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
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
    private final Queue<Outcome> outcomes = new ConcurrentLinkedQueue<>();
    private final CountDownLatch decided = new CountDownLatch(1);
    private final CountDownLatch ended;
    private final AtomicInteger open;

    /**
     * Tasks that have not begun.
     *
     * @param specs name and limit of each
     */
    FanOut(TaskEngine engine, List<? extends Callable<? extends T>> bodies, Function<Object, TaskSpec> specs) {
        this.engine = engine;
        this.ended = new CountDownLatch(bodies.size());
        this.open = new AtomicInteger(bodies.size());
        for (Callable<? extends T> body : bodies) {
            children.add(new Child(specs.apply(body), new ValueBody(body)));
        }
    }

    /** The values of all, in the order in which they were given; the first failure ends the rest. */
    @SuppressWarnings("unchecked") // a child has the value of its callable
    List<T> all() throws Exception {
        List<Outcome> failures =
                run(Outcome::isFailure).stream().filter(Outcome::isFailure).toList();
        if (!failures.isEmpty()) {
            throw first(failures);
        }
        return children.stream().map(child -> (T) child.future().resultNow()).toList();
    }

    /** The first value that comes, which ends the rest. */
    @SuppressWarnings({"unchecked", "NullAway"}) // a child has the value of its callable, null only if that may be
    T any() throws Exception {
        List<Outcome> known = run(outcome -> !outcome.isFailure());
        for (Outcome outcome : known) {
            if (!outcome.isFailure()) {
                return (T) outcome.value();
            }
        }
        throw first(known);
    }

    /** Returns when all have ended: with the outcomes, in the order in which they came, up to the one that decides. */
    private List<Outcome> run(Predicate<Outcome> decisive) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("interrupted before any of %d tasks began".formatted(children.size()));
        }
        for (Child child : children) {
            Future<?> unused = child.future()
                    .whenComplete((value, failure) -> settled(new Outcome(child, value, failure), decisive));
        }
        try {
            for (Child child : children) {
                if (decided.getCount() > 0) {
                    engine.submit(child);
                } else {
                    ended.countDown();
                }
            }
            if (!children.isEmpty()) {
                decided.await();
            }
            return List.copyOf(outcomes);
        } finally {
            children.forEach(child -> child.future().cancel(true));
            awaitEnd();
        }
    }

    private void settled(Outcome outcome, Predicate<Outcome> decisive) {
        outcomes.add(outcome);
        if (open.decrementAndGet() == 0 || decisive.test(outcome)) {
            decided.countDown();
        }
    }

    /** Nothing outlives the call, so an interrupt does not end this. */
    private void awaitEnd() {
        boolean interrupted = false;
        while (true) {
            try {
                ended.await();
                break;
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
    private Exception first(List<Outcome> failed) {
        Throwable first = failed.get(0).cause();
        for (Outcome other : failed.subList(1, failed.size())) {
            Failures.suppress(first, other.cause());
        }
        if (engine.tracesCallers()) {
            new CallerTrace(failed.get(0).child().spec().name()).addTo(first);
        }
        return Failures.asException(first);
    }

    private record Outcome(
            Task child, @Nullable Object value, @Nullable Throwable failure) {

        boolean isFailure() {
            return failure != null;
        }

        Throwable cause() {
            return Objects.requireNonNull(failure);
        }
    }

    /** Its future tells when its caller may go on, this tells when it has really ended, its permit given back. */
    private final class Child extends Task {

        Child(TaskSpec spec, TaskBody body) {
            super(spec, body, null);
        }

        @Override
        void release() {
            super.release();
            ended.countDown();
        }
    }
}
