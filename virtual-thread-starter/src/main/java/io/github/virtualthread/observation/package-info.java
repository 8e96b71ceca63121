/**
 * What monitoring sees of calls and limits: meters, observations and pins. Start at {@link TaskMeters}.
 *
 * <p>Hears of calls by {@link io.github.virtualthread.execution.TaskListener}. Micrometer and the JVM's flight recorder are
 * optional.
 */
@NullMarked
package io.github.virtualthread.observation;

import org.jspecify.annotations.NullMarked;
