/**
 * Limits for {@code @Async} methods and for executors of the application. Start at {@link AsyncExecutors}.
 *
 * <p>Knows the properties, and nothing of the auto-configurations.
 */
@NullMarked
package io.github.virtualthread.autoconfigure.async;

import org.jspecify.annotations.NullMarked;
