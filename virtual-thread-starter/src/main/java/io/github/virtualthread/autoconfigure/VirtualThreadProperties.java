package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.config.SelfInvocation;
import io.github.virtualthread.limit.LimitSettings.Nested;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of the virtual-thread starter. An unknown key is an error: a misspelt limit would otherwise be no limit.
 *
 * @param enabled whether annotated methods are intercepted; otherwise they run on the thread of their caller
 * @param defaultLimit name of the limit of annotated methods that name none
 * @param timeout longest run of a method that sets none itself; then it is interrupted
 * @param threadNamePrefix begin of the names of all threads
 * @param selfInvocation what happens at start-up where a method calls an annotated method of its own object, which the proxy
 *     cannot see
 * @param propagation what tasks see of their callers
 * @param limits named concurrency limits, keyed by the name used in the annotation
 * @param methods what replaces the attributes of annotations, keyed by class and method as in com.acme.Mailer.send
 * @param shutdown what happens to calls when the application stops
 */
@ConfigurationProperties(prefix = "virtual-thread", ignoreUnknownFields = false)
public record VirtualThreadProperties(
        @DefaultValue("true") boolean enabled,
        @Nullable String defaultLimit,
        @Nullable Duration timeout,
        @DefaultValue("vt-") String threadNamePrefix,
        @DefaultValue("warn") SelfInvocation selfInvocation,
        @DefaultValue Propagation propagation,
        @DefaultValue Map<String, Limit> limits,
        @DefaultValue Map<String, Method> methods,
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
     * What happens to calls when the application stops.
     *
     * @param awaitTerminationPeriod how long running and waiting calls may finish
     */
    public record Shutdown(@DefaultValue("30s") Duration awaitTerminationPeriod) {}
}
