package io.github.virtualthread.aop;

import io.github.virtualthread.Internal;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Settings of the application for annotated methods.
 *
 * @param defaultLimit limit of methods with {@code @VirtualThread} that name none, null for no limit
 * @param timeout maximum run of methods with {@code @VirtualThread} that set none, more than zero; null for none
 * @param overrides what replaces the attributes of annotations, by class and method as in {@code com.acme.Mailer.send}
 */
@Internal
public record MethodSettings(
        @Nullable String defaultLimit, @Nullable Duration timeout, Map<String, MethodOverride> overrides) {

    /** Settings without defaults and overrides. */
    public static final MethodSettings NONE = new MethodSettings(null, null, Map.of());

    /** Copies the map. */
    public MethodSettings {
        overrides = Map.copyOf(overrides);
    }

    MethodOverride of(AnnotatedMethod method) {
        return overrides.getOrDefault(method.qualifiedName(), MethodOverride.NOTHING);
    }

    /**
     * What replaces the attributes of one annotation.
     *
     * @param limit name of the limit, {@code "none"} for no limit; null to keep that of the annotation
     * @param timeout maximum run, more than zero; null to keep that of the annotation
     * @param deadline time for wait and run together, more than zero; null to keep that of the annotation
     */
    public record MethodOverride(
            @Nullable String limit,
            @Nullable Duration timeout,
            @Nullable Duration deadline) {

        static final MethodOverride NOTHING = new MethodOverride(null, null, null);
    }
}
