package io.github.virtualthread.config;

import io.github.virtualthread.Internal;
import io.github.virtualthread.aop.MethodSettings;
import io.github.virtualthread.cluster.ClusterSettings;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.mistake.Mistake;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Settings of the engine, whatever their source. A bean of this type replaces the defaults.
 *
 * @param methods defaults and replacements for attributes of annotations
 * @param threadNamePrefix prefix of every thread name
 * @param mdc whether tasks see the MDC of their caller
 * @param mdcKeys keys of the MDC to propagate; empty for all
 * @param registeredContext whether thread-locals registered with context-propagation are propagated, if it is on the
 *     classpath
 * @param awaitTermination time that calls have to finish when the application stops; zero for none
 * @param selfInvocation what happens if a call of an annotated method bypasses the proxy
 * @param callerTrace whether a failure also shows where its call was made
 * @param saturatedAfter time for which a limit must be full before the log warns of it; zero for no warning
 * @param stuckAfter run time after which a running body is reported; null for never
 * @param cluster how limits are shared with the other replicas; null if all limits are those of this
 *     JVM alone
 * @param limits limits that the settings declare, in addition to beans of type {@link LimitSettings}
 * @param mistakes what is wrong in the source of the settings; reported together with all other mistakes
 */
@Internal
public record EngineSettings(
        MethodSettings methods,
        String threadNamePrefix,
        boolean mdc,
        List<String> mdcKeys,
        boolean registeredContext,
        Duration awaitTermination,
        SelfInvocation selfInvocation,
        boolean callerTrace,
        Duration saturatedAfter,
        @Nullable Duration stuckAfter,
        @Nullable ClusterSettings cluster,
        List<LimitSettings> limits,
        List<Mistake> mistakes) {

    /** Settings of an application that sets nothing. */
    public static final EngineSettings DEFAULTS = new EngineSettings(
            MethodSettings.NONE,
            "vt-",
            true,
            List.of(),
            true,
            Duration.ofSeconds(30),
            SelfInvocation.WARN,
            false,
            Duration.ofSeconds(10),
            null,
            ClusterSettings.DEFAULTS,
            List.of(),
            List.of());

    /**
     * Returns a limit as this application has it.
     *
     * @param limit limit as it is declared
     * @return the same; of this JVM alone if limits are not shared with other replicas
     */
    public LimitSettings sharedOrNot(LimitSettings limit) {
        return cluster != null ? limit : limit.withClusterPermits(null);
    }

    /** Copies the lists. */
    public EngineSettings {
        mdcKeys = List.copyOf(mdcKeys);
        limits = List.copyOf(limits);
        mistakes = List.copyOf(mistakes);
    }
}
