package io.github.virtualthread.actuate;

import io.github.virtualthread.actuate.CallCounts.Counts;
import io.github.virtualthread.actuate.CallCounts.Name;
import io.github.virtualthread.actuate.VirtualThreadsEndpoint.CallDescriptor;
import io.github.virtualthread.actuate.VirtualThreadsEndpoint.LimitDescriptor;
import io.github.virtualthread.actuate.VirtualThreadsEndpoint.MemberDescriptor;
import io.github.virtualthread.actuate.VirtualThreadsEndpoint.MethodDescriptor;
import io.github.virtualthread.actuate.VirtualThreadsEndpoint.ShadowDescriptor;
import io.github.virtualthread.actuate.VirtualThreadsEndpoint.VirtualThreadsDescriptor;
import io.github.virtualthread.aop.Findings.AdvisedMethod;
import io.github.virtualthread.execution.LiveCall;
import io.github.virtualthread.execution.LiveCalls;
import io.github.virtualthread.execution.TaskCall;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitNumber;
import io.github.virtualthread.limit.LimitNumber.AtEndpoint;
import io.github.virtualthread.limit.LimitNumber.Kind;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.ClusterState;
import io.github.virtualthread.limit.TaskLimit.ClusterState.Lending;
import io.github.virtualthread.limit.TaskLimit.DryRunState;
import io.github.virtualthread.limit.TaskLimit.Member;
import io.github.virtualthread.limit.TaskLimit.Shadow;
import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Describes limits, methods and calls. Nothing is locked, so the numbers of one answer are of nearly the same moment. */
record Descriptors(
        TaskLimits limits, LiveCalls live, CallCounts counts, CallDetails details, Supplier<@Nullable String> self) {

    private static final String TRACE_ID = "traceId";
    private static final int LONGEST_STATEMENT = 100;

    VirtualThreadsDescriptor all(Collection<AdvisedMethod> advised) {
        List<LiveCall> running = live.running();
        Map<TaskLimit, List<LiveCall>> byLimit = new HashMap<>();
        for (LiveCall call : running) {
            for (TaskLimit each = call.call().spec().limit(); each != null; each = each.within()) {
                byLimit.computeIfAbsent(each, first -> new ArrayList<>()).add(call);
            }
        }
        return new VirtualThreadsDescriptor(
                limits.all().stream()
                        .map(limit -> limit(limit, byLimit.getOrDefault(limit, List.of())))
                        .toList(),
                methods(advised, running));
    }

    /** The running calls are those of the limit and of all within it, the oldest first. */
    LimitDescriptor limit(TaskLimit limit, List<LiveCall> running) {
        LimitDescriptor row = new LimitDescriptor();
        TaskLimit around = limit.within();
        row.add("name", limit.name());
        row.add("within", around == null ? null : around.name());
        row.add("occupied", limit.isOccupied() ? true : null);
        addNumbers(limit.settings(), row);
        row.add("permitsFrom", limit.permitsFrom());
        Integer clusterPermits = limit.clusterPermits();
        if (clusterPermits != null) {
            addCluster(limit, clusterPermits, row);
        }
        int available = limit.available();
        row.add("inUse", clusterPermits == null ? Math.max(limit.permits() - available, limit.inUse()) : limit.inUse());
        row.add("available", available);
        row.add("waiting", limit.waiting());
        row.add("waitingWithin", waitingWithin(limit));
        row.add("keys", keys(limit));
        row.add("saturatedForSeconds", seconds(limit.saturated()));
        row.add("expectedWaitSeconds", setting(limit.expectedWait()));
        if (!running.isEmpty()) {
            row.add("oldestRunningSeconds", seconds(running.get(0).call().ran()));
        }
        for (LiveCall first : live.waiting(limit, 1)) {
            row.add("oldestWaitingSeconds", seconds(first.call().waited()));
        }
        row.add("abandoned", running.stream().filter(LiveCall::abandoned).count());
        row.add("rejected", rejected(limit));
        DryRunState dryRun = limit.isDryRun() ? limit.dryRun() : null;
        if (dryRun != null) {
            row.add("mostInUse", dryRun.mostInUse());
            row.add("dryRun", shadows(dryRun));
        }
        return row;
    }

    static void addNumbers(LimitSettings settings, LimitDescriptor row) {
        for (LimitNumber number : LimitNumber.values()) {
            if (number.atEndpoint() == AtEndpoint.CHANGED || number.atEndpoint() == AtEndpoint.SHOWN) {
                add(number, number.of(settings), row);
            }
        }
    }

    private static void add(LimitNumber number, @Nullable Object value, LimitDescriptor row) {
        if (value instanceof Duration duration) {
            row.add(number.parameter() + "Seconds", setting(duration));
        } else if (number.kind() == Kind.BOUND) {
            row.add(number.parameter(), value instanceof Integer most ? bound(most) : null);
        } else {
            row.add(number.parameter(), value);
        }
    }

    private static void addCluster(TaskLimit limit, int clusterPermits, LimitDescriptor row) {
        ClusterState cluster = state(limit, clusterPermits);
        if (cluster.permits() < clusterPermits) {
            row.add("clusterPermitsInForce", cluster.permits());
            row.add("heldBackBy", heldBackBy(cluster));
        }
        row.add("share", limit.lent());
        row.add("kept", cluster.kept());
        row.add("keptFor", cluster.keptFor());
        row.add("members", cluster.members().size());
        row.add("leaseSeconds", seconds(cluster.leaseLeft()));
        row.add("lending", cluster.lending());
    }

    private static Map<String, ShadowDescriptor> shadows(DryRunState dryRun) {
        Map<String, ShadowDescriptor> shadows = new LinkedHashMap<>();
        shadows.put("half", shadow(dryRun.half()));
        shadows.put("same", shadow(dryRun.same()));
        shadows.put("double", shadow(dryRun.twice()));
        return shadows;
    }

    private static ShadowDescriptor shadow(Shadow shadow) {
        return new ShadowDescriptor(
                shadow.permits(),
                shadow.calls(),
                Math.round(10_000.0 * shadow.waited() / Math.max(1, shadow.calls())) / 1e4,
                seconds(shadow.median()),
                seconds(shadow.p99()),
                seconds(shadow.longest()),
                shadow.rejected(),
                shadow.mostWaiting(),
                shadow.beyond() == 0 ? null : shadow.beyond());
    }

    /** As the engine has answered last: asks nobody. Null for a limit of this JVM alone. */
    @Nullable
    List<MemberDescriptor> members(@Nullable TaskLimit limit) {
        ClusterState cluster = limit == null ? null : limit.cluster();
        if (cluster == null) {
            return null;
        }
        String own = self.get();
        return cluster.members().stream()
                .map(member -> member(member, member.name().equals(own)))
                .toList();
    }

    private static MemberDescriptor member(Member member, boolean isSelf) {
        return new MemberDescriptor(
                member.name(),
                isSelf ? true : null,
                member.holds(),
                member.wants(),
                member.permits(),
                member.hungryFor().isZero() ? null : seconds(member.hungryFor()),
                seconds(member.claimed()));
    }

    /** Before the first exchange there may be no state. */
    private static ClusterState state(TaskLimit limit, int permits) {
        ClusterState known = limit.cluster();
        if (known == null) {
            return new ClusterState(Lending.LOST, Duration.ZERO, permits, 0, 0, Duration.ZERO, List.of());
        }
        return known;
    }

    /** Null for nobody: then the engine has not been told yet. */
    private static @Nullable List<String> heldBackBy(ClusterState cluster) {
        List<String> names = cluster.members().stream()
                .filter(member -> member.permits() == cluster.permits())
                .map(Member::name)
                .toList();
        return names.isEmpty() ? null : names;
    }

    private @Nullable Map<String, Integer> waitingWithin(TaskLimit limit) {
        Map<String, Integer> waiting = new LinkedHashMap<>();
        limits.within(limit).forEach(each -> waiting.put(each.name(), each.waiting()));
        return waiting.isEmpty() ? null : waiting;
    }

    private static @Nullable Integer keys(TaskLimit limit) {
        int keys = limit.keys();
        if (keys == 0 && bound(limit.permitsPerKey()) == null && bound(limit.queueCapacityPerKey()) == null) {
            return null;
        }
        return keys;
    }

    private static @Nullable Integer bound(int most) {
        return most == LimitSettings.UNBOUNDED ? null : most;
    }

    CallDescriptor call(LiveCall shown) {
        TaskCall call = shown.call();
        Thread thread = shown.thread();
        Map<String, String> mdc = shown.mdc();
        return new CallDescriptor(
                call.id(),
                call.spec().name(),
                call.isStarted() ? "running" : "waiting",
                shown.abandoned(),
                seconds(call.isStarted() ? call.ran() : call.waited()),
                details.keys() ? call.key() : null,
                thread == null ? null : thread.getName(),
                mdc.get(TRACE_ID),
                chosen(mdc),
                details.sql() ? live.statement(call).map(Descriptors::beginning).orElse(null) : null,
                thread == null ? null : StackExcerpt.of(thread.getStackTrace()));
    }

    /** On one line. Reads no further than that: a statement may be long. */
    static String beginning(String sql) {
        StringBuilder shown = new StringBuilder();
        boolean isGap = false;
        for (int i = 0; i < sql.length() && shown.length() <= LONGEST_STATEMENT; i++) {
            if (Character.isWhitespace(sql.charAt(i))) {
                isGap = !shown.isEmpty();
            } else {
                shown.append(isGap ? " " : "").append(sql.charAt(i));
                isGap = false;
            }
        }
        if (shown.length() <= LONGEST_STATEMENT) {
            return shown.toString();
        }
        int end = LONGEST_STATEMENT - "...".length();
        return shown.substring(0, Character.isHighSurrogate(shown.charAt(end - 1)) ? end - 1 : end) + "...";
    }

    private Map<String, String> chosen(Map<String, String> mdc) {
        Map<String, String> chosen = new LinkedHashMap<>();
        details.mdcKeys().forEach(key -> chosen.computeIfAbsent(key, mdc::get)); // none where it has no value
        return chosen;
    }

    private Map<String, Long> rejected(TaskLimit limit) {
        boolean isLent = Stream.iterate(limit, Objects::nonNull, TaskLimit::within)
                .anyMatch(each -> each.clusterPermits() != null);
        Map<String, Long> rejected = new LinkedHashMap<>();
        for (Reason reason : Reason.values()) {
            long number = counts.rejected(limit.name(), reason);
            boolean mayOccur =
                    switch (reason) {
                        case NO_LEASE -> isLent;
                        case HOPELESS -> limit.rejectsHopeless();
                        case CLIENT_GONE -> number > 0;
                        default -> true;
                    };
            if (mayOccur) {
                rejected.put(reason.name(), number);
            }
        }
        return rejected;
    }

    private List<MethodDescriptor> methods(Collection<AdvisedMethod> advised, List<LiveCall> running) {
        Map<Name, AdvisedMethod> declared = new HashMap<>();
        advised.forEach(call -> declared.putIfAbsent(Name.of(call.name(), call.limit()), call));
        Map<Name, Long> active = running.stream()
                .collect(Collectors.groupingBy(call -> Name.of(call.call().spec()), Collectors.counting()));
        return Stream.concat(declared.keySet().stream(), counts.names().stream())
                .distinct()
                .sorted(Comparator.comparing(Name::task).thenComparing(Name::limit))
                .map(name -> method(name, declared.get(name), active.getOrDefault(name, 0L)))
                .toList();
    }

    private MethodDescriptor method(Name name, @Nullable AdvisedMethod declared, long active) {
        Counts counted = counts.of(name);
        return new MethodDescriptor(
                name.task(),
                limits.contains(name.limit()) ? limits.get(name.limit()).name() : name.limit(),
                declared == null ? null : setting(declared.timeout()),
                declared == null ? null : setting(declared.deadline()),
                active,
                counted.done.sum(),
                counted.failed.sum(),
                counted.rejected.sum());
    }

    /** In seconds, to the millisecond. */
    private static double seconds(Duration duration) {
        return duration.toSeconds() + duration.toMillisPart() / 1e3;
    }

    /** In seconds, exactly; null for null. */
    private static @Nullable Double setting(@Nullable Duration duration) {
        return duration == null ? null : duration.toSeconds() + duration.toNanosPart() / 1e9;
    }
}
