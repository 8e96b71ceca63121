/**
 * Meters, observations and pinned threads, for monitoring. Start at {@link TaskMeters}.
 *
 * <p>Knows calls by {@link io.github.virtualthread.execution.TaskListener}, and limits. Micrometer and the JVM's flight recorder
 * are optional.
 */
@NullMarked
package io.github.virtualthread.observation;

import org.jspecify.annotations.NullMarked;
