package io.github.virtualthread.actuate;

import io.github.virtualthread.Internal;
import io.github.virtualthread.execution.Calls;
import io.github.virtualthread.execution.TaskCall;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.execution.TaskSpec;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.TaskLimit;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Counts how calls have ended since the start of the application: by name and limit, and the rejections of each limit by
 * reason. The number of counters depends on the number of names, not on the number of calls.
 */
@Internal
public final class CallCounts implements TaskListener {

    private final Map<Name, Counts> methods = new ConcurrentHashMap<>();
    private final Map<Refusal, LongAdder> refusals = new ConcurrentHashMap<>();
    private final Function<TaskSpec, Counts> lookup = this::lookUp;

    /** Creates counters; all are zero. */
    public CallCounts() {}

    @Override
    public void submitted(TaskCall call) {
        counts(call);
    }

    @Override
    public void finished(TaskCall call, Outcome outcome, @Nullable Throwable failure) {
        Counts counts = counts(call);
        (outcome == Outcome.SUCCESS ? counts.done : counts.failed).increment();
    }

    @Override
    public void rejected(TaskCall call, LimitExceededException rejection) {
        counts(call).rejected.increment();
        refusals.computeIfAbsent(Refusal.of(rejection.limit(), rejection.reason()), first -> new LongAdder())
                .increment();
    }

    private Counts counts(TaskCall call) {
        return Calls.kept(call.spec(), this, lookup);
    }

    private Counts lookUp(TaskSpec spec) {
        Name name = Name.of(spec);
        Counts known = methods.get(name); // takes no lock
        return known == null ? methods.computeIfAbsent(name, first -> new Counts()) : known;
    }

    /** Names that were called at least once. */
    Set<Name> names() {
        return Set.copyOf(methods.keySet());
    }

    /** Counts of a name; zeros if it was never called. */
    Counts of(Name name) {
        return methods.getOrDefault(name, new Counts());
    }

    /** How many calls a limit has rejected for a reason. */
    long rejected(String limit, Reason reason) {
        LongAdder counted = refusals.get(Refusal.of(limit, reason));
        return counted == null ? 0 : counted.sum();
    }

    /**
     * Key of the counts of one kind of call.
     *
     * @param task name of the tasks
     * @param limit limit in its uniform form; {@code none} without one
     */
    record Name(String task, String limit) {

        static Name of(TaskSpec spec) {
            TaskLimit limit = spec.limit();
            return of(spec.name(), limit == null ? null : limit.name());
        }

        static Name of(String task, @Nullable String limit) {
            return new Name(task, LimitNames.uniform(limit == null ? LimitNames.NONE : limit));
        }
    }

    /**
     * Key of the rejections of one limit for one reason.
     *
     * @param limit limit in its uniform form
     */
    private record Refusal(String limit, Reason reason) {

        static Refusal of(String limit, Reason reason) {
            return new Refusal(LimitNames.uniform(limit), reason);
        }
    }

    /** How the calls of one name have ended. */
    static final class Counts {

        final LongAdder done = new LongAdder();
        final LongAdder failed = new LongAdder();
        final LongAdder rejected = new LongAdder();
    }
}
