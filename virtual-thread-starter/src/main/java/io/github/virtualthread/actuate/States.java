package io.github.virtualthread.actuate;

import io.github.virtualthread.actuate.CallCounts.Counts;
import io.github.virtualthread.actuate.CallCounts.Name;
import io.github.virtualthread.aop.Findings.AdvisedMethod;
import io.github.virtualthread.execution.LiveCall;
import io.github.virtualthread.execution.LiveCalls;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Looks at limits and methods. The numbers of one answer are of nearly one moment: nothing is held up for it. */
final class States {

    private final TaskLimits limits;
    private final LiveCalls live;
    private final CallCounts counts;

    States(TaskLimits limits, LiveCalls live, CallCounts counts) {
        this.limits = limits;
        this.live = live;
        this.counts = counts;
    }

    Overview all(Collection<AdvisedMethod> annotated) {
        List<LiveCall> running = live.running();
        Map<String, List<LiveCall>> byLimit = running.stream()
                .collect(Collectors.groupingBy(call -> Name.of(call.call()).limit()));
        return new Overview(
                limits.names().stream()
                        .map(name -> state(limits.get(name), byLimit.getOrDefault(LimitNames.uniform(name), List.of())))
                        .toList(),
                methods(annotated, running));
    }

    /** The running calls are those of the limit, the oldest first. */
    LimitState state(TaskLimit limit, List<LiveCall> running) {
        int permits = limit.permits();
        int available = limit.available();
        List<LiveCall> first = live.waiting(limit.name(), 1);
        return new LimitState(
                limit.name(),
                permits,
                Math.max(permits - available, running.size()),
                available,
                limit.waiting(),
                limit.queueCapacity() == LimitSettings.UNBOUNDED ? null : limit.queueCapacity(),
                Seconds.setting(limit.maxWait()),
                limit.nested().name(),
                limit.permitsFrom(),
                Seconds.of(limit.saturated()),
                running.isEmpty() ? null : Seconds.of(running.get(0).call().ran()),
                first.isEmpty() ? null : Seconds.of(first.get(0).call().waited()),
                (int) running.stream().filter(LiveCall::abandoned).count(),
                rejected(limit));
    }

    private Map<String, Long> rejected(TaskLimit limit) {
        Map<String, Long> rejected = new LinkedHashMap<>();
        for (Reason reason : Reason.values()) {
            rejected.put(reason.name(), counts.rejected(limit.name(), reason));
        }
        return rejected;
    }

    private List<MethodState> methods(Collection<AdvisedMethod> annotated, List<LiveCall> running) {
        Map<Name, AdvisedMethod> declared = new HashMap<>();
        annotated.forEach(call -> declared.putIfAbsent(Name.of(call.name(), call.limit()), call));
        Map<Name, Long> active =
                running.stream().collect(Collectors.groupingBy(call -> Name.of(call.call()), Collectors.counting()));
        Set<Name> names = new LinkedHashSet<>(declared.keySet());
        names.addAll(counts.names());
        Function<Name, MethodState> state = name -> state(name, declared.get(name), active.getOrDefault(name, 0L));
        return names.stream()
                .sorted(Comparator.comparing(Name::task).thenComparing(Name::limit))
                .map(state)
                .toList();
    }

    private MethodState state(Name name, @Nullable AdvisedMethod declared, long active) {
        Counts counted = counts.of(name);
        return new MethodState(
                name.task(),
                limits.contains(name.limit()) ? limits.get(name.limit()).name() : name.limit(),
                declared == null ? null : Seconds.setting(declared.timeout()),
                active,
                counted.done.sum(),
                counted.failed.sum(),
                counted.rejected.sum());
    }
}
