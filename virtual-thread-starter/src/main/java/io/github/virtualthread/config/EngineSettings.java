package io.github.virtualthread.config;

import io.github.virtualthread.aop.MethodSettings;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.mistake.Mistake;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Settings of the engine, from wherever they come. A bean of this type replaces the defaults.
 *
 * @param methods what applies where an annotation says nothing
 * @param threadNamePrefix begin of the names of all threads
 * @param mdc whether the MDC of the caller is there in the task
 * @param mdcKeys the only keys of the MDC to carry; empty for all
 * @param registeredContext whether thread-locals registered with context-propagation travel, where it is on the classpath
 * @param awaitTermination how long calls may finish when the application stops; zero for not at all
 * @param selfInvocation what happens where an object calls an annotated method of its own
 * @param callerTrace whether a failure also shows where its call was made
 * @param watch what the log says of calls that take long
 * @param limits limits that the settings declare, in addition to beans of type {@link LimitSettings}
 * @param mistakes what is wrong in the source of the settings; reported together with all other mistakes
 */
public record EngineSettings(
        MethodSettings methods,
        String threadNamePrefix,
        boolean mdc,
        List<String> mdcKeys,
        boolean registeredContext,
        Duration awaitTermination,
        SelfInvocation selfInvocation,
        boolean callerTrace,
        Watch watch,
        List<LimitSettings> limits,
        List<Mistake> mistakes) {

    /**
     * What the log says of calls that take long.
     *
     * @param saturated after what time a limit that is full is told of; zero for never
     * @param stuck after what time a body that still runs is told of; null for never
     */
    public record Watch(Duration saturated, @Nullable Duration stuck) {}

    /** What applies without any setting. */
    static final EngineSettings DEFAULTS = new EngineSettings(
            MethodSettings.NONE,
            "vt-",
            true,
            List.of(),
            true,
            Duration.ofSeconds(30),
            SelfInvocation.WARN,
            false,
            new Watch(Duration.ofSeconds(10), null),
            List.of(),
            List.of());

    /** Copies the lists. */
    public EngineSettings {
        mdcKeys = List.copyOf(mdcKeys);
        limits = List.copyOf(limits);
        mistakes = List.copyOf(mistakes);
    }
}
