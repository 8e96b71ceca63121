package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.config.SelfInvocation;
import io.github.virtualthread.limit.LimitSettings.Nested;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.context.annotation.AdviceMode;

/**
 * Settings of the virtual-thread starter. An unknown key is an error: a misspelt limit would otherwise be no limit.
 *
 * @param enabled whether annotated methods are intercepted; otherwise they run on the thread of their caller
 * @param mode how annotated methods are intercepted: by proxies, or by an aspect that is woven into their classes
 * @param defaultLimit name of the limit of annotated methods that name none
 * @param timeout longest run of a method that sets none itself; then it is interrupted
 * @param threadNamePrefix begin of the names of all threads
 * @param selfInvocation what happens at start-up where a method calls an annotated method of its own object, which the proxy
 *     cannot see
 * @param callerTrace whether a failure also shows, as a suppressed exception, where its call was made
 * @param stuckAfter time after which a call that still runs is logged, once
 * @param propagation what tasks see of their callers
 * @param limits named concurrency limits, keyed by the name used in the annotation
 * @param methods what replaces the attributes of annotations, keyed by class and method as in com.acme.Mailer.send
 * @param saturation what happens while a limit is full
 * @param pinning what happens to virtual threads that block their carrier
 * @param observation observations of runs, which become spans and timers
 * @param health health of the limits
 * @param endpoint what the endpoint virtualthreads shows
 * @param web answers to web requests whose call was rejected
 * @param shutdown what happens to calls when the application stops
 */
@ConfigurationProperties(prefix = "virtual-thread", ignoreUnknownFields = false)
public record VirtualThreadProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue("proxy") AdviceMode mode,
        @Nullable String defaultLimit,
        @Nullable Duration timeout,
        @DefaultValue("vt-") String threadNamePrefix,
        @DefaultValue("warn") SelfInvocation selfInvocation,
        @DefaultValue("false") boolean callerTrace,
        @Nullable Duration stuckAfter,
        @DefaultValue Propagation propagation,
        @DefaultValue Map<String, Limit> limits,
        @DefaultValue Map<String, Method> methods,
        @DefaultValue Saturation saturation,
        @DefaultValue Pinning pinning,
        @DefaultValue Observation observation,
        @DefaultValue Health health,
        @DefaultValue Endpoint endpoint,
        @DefaultValue Web web,
        @DefaultValue Shutdown shutdown) {

    /**
     * What tasks see of their callers.
     *
     * @param mdc whether the MDC of the caller is there in the task
     * @param mdcKeys only these keys of the MDC; all where empty
     * @param context whether thread-locals registered with Micrometer's context-propagation travel, where that is on the
     *     classpath
     */
    public record Propagation(
            @DefaultValue("true") boolean mdc,
            @DefaultValue List<String> mdcKeys,
            @DefaultValue("true") boolean context) {}

    /**
     * One limit.
     *
     * @param permits most calls that run at once, at least 1
     * @param permitsFrom instead of permits, name of a DataSource bean: as many as its pool has connections. Or of a bean of
     *     type PermitsSource, which tells the number
     * @param headroom with permits-from, connections of the pool that are left to others
     * @param queueCapacity most calls that may wait; one more is rejected at once. Unbounded where not set
     * @param maxWait longest wait for a permit; then the call is rejected. Unbounded where not set
     * @param nested what happens to a call made from a body that holds the same limit, when no permit is free
     */
    public record Limit(
            @Nullable Integer permits,
            @Nullable String permitsFrom,
            @Nullable Integer headroom,
            @Nullable Integer queueCapacity,
            @Nullable Duration maxWait,
            @DefaultValue("warn") Nested nested) {}

    /**
     * What replaces the attributes of one annotation.
     *
     * @param limit name of the limit; none for no limit
     * @param timeout longest run; then it is interrupted
     */
    public record Method(@Nullable String limit, @Nullable Duration timeout) {}

    /**
     * What happens while a limit is full.
     *
     * @param warnAfter how long it has been so before it is logged; zero for never
     */
    public record Saturation(@DefaultValue("10s") Duration warnAfter) {}

    /**
     * What happens to virtual threads that block their carrier.
     *
     * @param enabled whether pins are recorded, by the JVM's flight recorder
     * @param threshold shortest pin that is recorded
     */
    public record Pinning(
            @DefaultValue("false") boolean enabled,
            @DefaultValue("20ms") Duration threshold) {}

    /**
     * Observations of runs.
     *
     * @param enabled whether each run is an observation, where Micrometer's observations are on the classpath
     */
    public record Observation(@DefaultValue("false") boolean enabled) {}

    /**
     * Health of the limits.
     *
     * @param saturatedAfter how long a limit has been full before the application is out of service; the
     *     health of limits is not looked at where not set
     */
    public record Health(@Nullable Duration saturatedAfter) {}

    /**
     * What the endpoint virtualthreads shows.
     *
     * @param mdcKeys keys of the MDC of callers that are shown of live calls; none where empty
     */
    public record Endpoint(@DefaultValue List<String> mdcKeys) {}

    /**
     * Answers to web requests whose call was rejected, by Spring MVC or WebFlux.
     *
     * @param rejectedStatus status of the answer, 400 to 599; none leaves rejections to the application. Handlers of the
     *     application come first
     * @param retryAfter time after which the client should come back, sent in whole seconds as Retry-After; zero for no such
     *     header
     */
    public record Web(
            @DefaultValue(DEFAULT_STATUS) String rejectedStatus,
            @DefaultValue("1s") Duration retryAfter) {

        static final String DEFAULT_STATUS = "503";
    }

    /**
     * What happens to calls when the application stops.
     *
     * @param awaitTerminationPeriod how long running and waiting calls may finish
     */
    public record Shutdown(@DefaultValue("30s") Duration awaitTerminationPeriod) {}
}
