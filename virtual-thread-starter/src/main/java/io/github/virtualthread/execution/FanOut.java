package io.github.virtualthread.execution;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.timer.TaskTimer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Tasks that begin and end within one call of their caller, which waits for them. For one use.
 *
 * <p>A caller that holds a permit of their limit does not use it meanwhile. It lends it to them: so one of them can always run.
 */
final class FanOut<T extends @Nullable Object> {

    private final TaskEngine engine;
    private final List<Child> children = new ArrayList<>();
    private final CountDownLatch decided = new CountDownLatch(1);
    private final AtomicInteger settled = new AtomicInteger();
    private final AtomicInteger open;
    private final @Nullable Loan loan; // null if the caller holds no permit of their limit

    /**
     * Creates the tasks, without starting them.
     *
     * @param specs name and limit of each
     */
    FanOut(TaskEngine engine, List<? extends Callable<? extends T>> bodies, Function<Object, TaskSpec> specs) {
        this.engine = engine;
        this.open = new AtomicInteger(bodies.size());
        for (Callable<? extends T> body : bodies) {
            children.add(new Child(specs.apply(body), TaskBody.of(body)));
        }
        TaskLimit limit = children.isEmpty() ? null : children.get(0).spec().limit(); // of all of them
        this.loan = limit != null && engine.parts().holders().currentHolds(limit) ? new Loan() : null;
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
        if (children.isEmpty()) {
            throw new IllegalArgumentException("anySuccessful needs at least one task, got none");
        }
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
                if (loan != null) {
                    loan.asked(submitted);
                }
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
    private void cancel(Child child) {
        while (true) {
            try {
                child.future().cancel(true);
                return;
            } catch (OutOfMemoryError shortage) {
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

    /** The permit of the caller, under which one child runs at a time. */
    private final class Loan {

        private final AtomicReference<@Nullable Child> borrower = new AtomicReference<>();
        private final AtomicInteger lenders = new AtomicInteger();
        private volatile int asked;
        private int next; // the children before it do not wait any more; of the thread that lends

        /** Lends the permit unless another child has it. */
        boolean lendTo(Child child) {
            return borrower.compareAndSet(null, child);
        }

        /** That many children have asked for a permit, and may wait for it. */
        void asked(int number) {
            asked = number;
            lend();
        }

        /** The child has ended, with or without the permit. */
        void ended(Child child) {
            if (borrower.compareAndSet(child, null)) {
                lend();
            }
        }

        /** One thread lends at a time, and looks again for others that come meanwhile: the stack does not grow. */
        private void lend() {
            if (lenders.getAndIncrement() == 0) {
                int seen = 1;
                while (seen > 0) {
                    lendToNext();
                    seen = lenders.addAndGet(-seen);
                }
            }
        }

        private void lendToNext() {
            while (next < asked && borrower.get() == null) {
                Child child = children.get(next);
                if (lendTo(child)) {
                    next++;
                    if (!borrowed(child)) {
                        borrower.compareAndSet(child, null);
                    }
                }
            }
        }

        /** Also if memory is short, because the caller waits for the child. */
        private boolean borrowed(Child child) {
            while (true) {
                try {
                    return child.borrowInsteadOfWaiting();
                } catch (OutOfMemoryError shortage) {
                    TaskTimer.pause();
                }
            }
        }
    }

    /** Its future is complete when the caller may go on; this also knows when it has really ended and its permit is back. */
    private final class Child extends Task {

        private final CountDownLatch ended = new CountDownLatch(1);
        private @Nullable Throwable failure; // written before the rank
        private volatile int rank; // position in the order of completion; 0 while it is incomplete

        Child(TaskSpec spec, TaskBody body) {
            super(spec, body, null);
        }

        boolean hasFailed() {
            return failure != null;
        }

        Throwable thrown() {
            return TaskFuture.thrown(Objects.requireNonNull(failure));
        }

        @Override
        @Nullable
        Reason askForPermit(long longest) {
            if (loan != null && loan.lendTo(this)) {
                lent();
                borrow();
                return null;
            }
            return super.askForPermit(longest);
        }

        /** Its caller may lend it the permit soon. */
        @Override
        boolean waitIsHalved() {
            return loan == null && super.waitIsHalved();
        }

        boolean borrowInsteadOfWaiting() {
            boolean waited = leaveQueue();
            if (waited) {
                lent();
                borrow();
            }
            return waited;
        }

        /** It waits for its caller only until the one that has borrowed the permit has ended. */
        @Override
        protected boolean isNested() {
            return loan == null && super.isNested();
        }

        @Override
        void letGo() {
            try {
                super.letGo();
                if (loan != null) {
                    loan.ended(this);
                }
            } finally {
                ended.countDown();
            }
        }
    }
}
