package io.github.virtualthread.interceptor;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What the settings of the application say about methods with {@code @VirtualThread}.
 *
 * @param defaultLimit limit of methods that name none, null for no limit
 * @param timeout longest run of methods that set none, more than zero; null for any time
 */
public record MethodSettings(
        @Nullable String defaultLimit, @Nullable Duration timeout) {

    /** Settings that say nothing. */
    public static final MethodSettings NONE = new MethodSettings(null, null);
}
