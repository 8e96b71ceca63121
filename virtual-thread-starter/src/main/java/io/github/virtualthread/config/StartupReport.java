package io.github.virtualthread.config;

import io.github.virtualthread.aop.Findings;
import io.github.virtualthread.aop.Findings.AdvisedMethod;
import io.github.virtualthread.cluster.ClusterSettings;
import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.limit.Durations;
import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.Numbers;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.PropertyKeys;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes to the log, at the start, what was found.
 *
 * @param decorators names of the task decorators that are put around bodies; asked for only if they are logged
 */
record StartupReport(EngineSettings settings, @Nullable ClassLoader classLoader, Supplier<List<String>> decorators) {

    private static final Logger logger = LoggerFactory.getLogger(StartupReport.class);

    /** JEP 491 came with JDK 24. */
    private static final int FIRST_JDK_WITHOUT_PINNING = 24;

    /**
     * Logs what the checks found.
     *
     * @param intercepted whether annotated methods are intercepted
     * @param parts what not every application has
     */
    void log(Findings findings, TaskLimits limits, boolean intercepted, List<StartupPart> parts) {
        List<AdvisedMethod> calls = findings.methods();
        sumUp(calls, limits.all(), intercepted, parts);
        parts.forEach(part -> {
            part.remarks().forEach(logger::info);
            part.warnings().forEach(logger::warn);
        });
        if (logger.isDebugEnabled()) {
            for (AdvisedMethod call : calls) {
                logger.debug(
                        "{}: {}", call.method(), call.limit() == null ? "no limit" : "limit '" + call.limit() + "'");
            }
        }
        if (settings.selfInvocation() == SelfInvocation.WARN) {
            findings.selfInvocations().forEach(call -> logger.warn(call.toString()));
        }
        for (AdvisedMethod call : calls) {
            warnOfTimeout(call);
            warnOfQueue(call, limits);
        }
        if (ContextPropagation.isSecurityPresent(classLoader) && !settings.registeredContext()) {
            logger.warn("Spring Security's authentication is not propagated to virtual threads because"
                    + " virtual-thread.propagation.context is false");
        }
    }

    /** Logs one line. */
    void sumUp(List<AdvisedMethod> calls, List<TaskLimit> limits, boolean intercepted, List<StartupPart> parts) {
        if (!logger.isInfoEnabled()) {
            return;
        }
        long unlimited = calls.stream().filter(call -> call.limit() == null).count();
        List<String> texts = new ArrayList<>();
        texts.add("%s, %s of them without a limit%s"
                .formatted(
                        Numbers.of(calls.size(), "annotated method"),
                        unlimited,
                        intercepted ? "" : ", not intercepted because virtual-thread.enabled is false"));
        if (limits.isEmpty()) {
            texts.add("no limits");
        } else {
            texts.add(limits.stream().map(TaskLimit::toString).collect(Collectors.joining(", ", "limits ", "")));
        }
        texts.add("propagated: " + propagated());
        List<String> decorating = decorators.get();
        if (!decorating.isEmpty()) {
            texts.add("decorated by " + String.join(", ", decorating));
        }
        if (Runtime.version().feature() < FIRST_JDK_WITHOUT_PINNING) {
            texts.add("on Java %s blocking inside synchronized pins the carrier thread, from Java 24 on it does not"
                    .formatted(Runtime.version().feature()));
        }
        parts.forEach(part -> texts.addAll(part.notes()));
        logger.info("Virtual threads: {}", String.join("; ", texts));
    }

    /**
     * Logs which numbers of limits have no effect.
     *
     * @param calls methods that may have keys
     */
    void logNumbers(TaskLimits limits, List<AdvisedMethod> calls) {
        warnOfDryRuns(limits.all().stream().filter(TaskLimit::isDryRun).toList());
        for (TaskLimit limit : limits.all()) {
            warn(limit);
            warnOfTurns(limit);
            warnOfWeights(limit);
            if (limit.permitsPerKey() != LimitSettings.UNBOUNDED
                    && calls.stream()
                            .noneMatch(call -> call.key() != null && LimitNames.areEqual(call.limit(), limit.name()))) {
                logger.info(
                        "Limit '{}' has permits-per-key: {}, but no annotated method under it has a key: the number applies only"
                                + " to calls of VirtualThreads.forKey, and to web requests with a key",
                        limit.name(),
                        limit.permitsPerKey());
            }
        }
    }

    private static void warnOfDryRuns(List<TaskLimit> limits) {
        if (!limits.isEmpty()) {
            logger.warn(
                    "Dry run of {}: all calls begin at once, and nothing protects what they use. Read dryRun at the endpoint"
                            + " virtualthreads, choose a number, and remove {}",
                    limits.stream()
                            .map(limit -> "'%s' (%s)".formatted(limit.name(), Numbers.of(limit.permits(), "permit")))
                            .collect(Collectors.joining(", ")),
                    limits.stream()
                            .map(limit -> PropertyKeys.limit(limit.name()) + ".dry-run")
                            .collect(Collectors.joining(", ")));
        }
    }

    /** The deadline covers the wait too, so that of two equal ones it comes first. A default timeout may be longer: it is for others. */
    private void warnOfTimeout(AdvisedMethod call) {
        Duration timeout = call.timeout();
        if (call.deadline() == null
                || timeout == null
                || timeout.equals(settings.methods().timeout())
                || timeout.compareTo(call.deadline()) < 0) {
            return;
        }
        logger.warn(
                "{} has a deadline of {} and a timeout of {}: the deadline bounds wait and run together, so the timeout never"
                        + " comes. Shorten the timeout, or remove it",
                call.method(),
                Durations.text(call.deadline()),
                Durations.text(timeout));
    }

    /** By Little's law as many end within the deadline; calls that begin in its second half end too late. */
    private static void warnOfQueue(AdvisedMethod call, TaskLimits limits) {
        if (call.deadline() == null || call.limit() == null) {
            return;
        }
        TaskLimit limit = limits.get(call.limit());
        if (limit.queueCapacity() == LimitSettings.UNBOUNDED && limit.maxWait() == null && !limit.rejectsHopeless()) {
            String deadline = Durations.text(call.deadline());
            logger.warn(
                    "{} has a deadline of {}, but limit '{}' has an unbounded queue and no max-wait: calls queue up that"
                            + " cannot be done in time. Set {}.reject-hopeless to true, or {}.queue-capacity to about half of"
                            + " permits x deadline / run time, which is {} x {} / run time / 2",
                    call.method(),
                    deadline,
                    limit.name(),
                    PropertyKeys.limit(limit.name()),
                    PropertyKeys.limit(limit.name()),
                    limit.permits(),
                    deadline);
        }
    }

    private void warnOfTurns(TaskLimit limit) {
        Integer permits = limit.clusterPermits();
        ClusterSettings cluster = settings.cluster();
        if (permits == null || cluster == null) {
            return;
        }
        Integer replicas = cluster.replicas();
        if (replicas != null && permits < replicas) {
            boolean isAlone = cluster.onFailure(limit.settings()) == OnFailure.LOCAL_SHARE;
            logger.warn(
                    "Limit '{}' has cluster-permits: {}, but there are {} replicas: they take turns, so that"
                            + " calls wait although permits are free elsewhere{}. Raise {}.cluster-permits, or let fewer replicas"
                            + " make these calls",
                    limit.name(),
                    permits,
                    replicas,
                    isAlone ? ", and all calls wait while no engine lends permits" : "",
                    PropertyKeys.limit(limit.name()));
        }
    }

    /** A newcomer is rejected if the queue is full: then whoever fills it is served, whatever its weight. */
    private static void warnOfWeights(TaskLimit limit) {
        if (!limit.settings().keyWeights().isEmpty()
                && limit.queueCapacity() != LimitSettings.UNBOUNDED
                && limit.queueCapacityPerKey() == LimitSettings.UNBOUNDED) {
            logger.warn(
                    "Limit '{}' has key-weights and a queue of {} that one key can fill: set {}.queue-capacity-per-key",
                    limit.name(),
                    limit.queueCapacity(),
                    PropertyKeys.limit(limit.name()));
        }
    }

    /** Warns of numbers that have no effect. Those of a pool may be others elsewhere. */
    private static void warn(TaskLimit limit) {
        TaskLimit around = limit.within();
        if (around != null && around.permitsFrom() == null && limit.permits() > around.permits()) {
            logger.warn(
                    "Limit '{}' has {} permits, but lies within '{}', which has {}: at most {} of its calls run at once. Lower"
                            + " {}.permits, or raise {}.permits",
                    limit.name(),
                    limit.permits(),
                    around.name(),
                    around.permits(),
                    around.permits(),
                    PropertyKeys.limit(limit.name()),
                    PropertyKeys.limit(around.name()));
        }
        if (limit.permitsFrom() == null) {
            warn(limit, "permits-per-key", limit.permitsPerKey(), "permits", limit.permits());
        }
        warn(limit, "queue-capacity-per-key", limit.queueCapacityPerKey(), "queue-capacity", limit.queueCapacity());
    }

    private static void warn(TaskLimit limit, String perKey, int ofOne, String inAll, int ofAll) {
        if (ofOne != LimitSettings.UNBOUNDED && ofOne >= ofAll) {
            logger.warn(
                    "Limit '{}' has {}: {} and {}: {}, so one key can take all of them. Lower {}.{}, or remove it",
                    limit.name(),
                    perKey,
                    ofOne,
                    inAll,
                    ofAll,
                    PropertyKeys.limit(limit.name()),
                    perKey);
        }
    }

    private String propagated() {
        List<String> kinds = new ArrayList<>();
        if (settings.mdc()) {
            kinds.add(settings.mdcKeys().isEmpty() ? "MDC" : "MDC keys " + settings.mdcKeys());
        }
        if (settings.registeredContext() && ContextPropagation.isContextRegistryPresent(classLoader)) {
            kinds.add("registered context");
        }
        if (settings.registeredContext() && ContextPropagation.isSecurityPresent(classLoader)) {
            kinds.add("authentication");
        }
        return kinds.isEmpty() ? "nothing" : String.join(", ", kinds);
    }
}
