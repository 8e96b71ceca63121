/**
 * Named concurrency limits: which calls run, which wait, and which are rejected. Start at {@link TaskLimit}.
 *
 * <p>Needs the JDK, the timer and Spring's rejection exception only.
 */
@NullMarked
package io.github.virtualthread.limit;

import org.jspecify.annotations.NullMarked;
