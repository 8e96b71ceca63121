/**
 * Named concurrency limits: who runs, who waits, who is refused. Start at {@link TaskLimit}.
 *
 * <p>JDK and Spring's rejection exception only. Used by {@code execution} and above; knows none of them.
 */
@NullMarked
package io.github.virtualthread.limit;

import org.jspecify.annotations.NullMarked;
