/**
 * Meters, observations and pinned threads, for monitoring. Start at {@link TaskMeters}.
 *
 * <p>Observations are API. {@link TaskMeters} and {@link PinWatch} are public for this jar only.
 *
 * <p>Knows calls by {@link io.github.virtualthread.execution.TaskListener}, and limits. Micrometer and the JVM's flight recorder
 * are optional.
 */
@NullMarked
package io.github.virtualthread.observation;

import org.jspecify.annotations.NullMarked;
