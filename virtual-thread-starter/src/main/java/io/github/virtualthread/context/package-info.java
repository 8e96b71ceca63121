/**
 * What a body sees of its caller: captured on the caller's thread, opened on the task's thread, and closed there. Start at
 * {@link ContextPropagation}.
 *
 * <p>Needs the JDK and SLF4J; Logback, Spring Security and Micrometer's context-propagation are optional.
 */
@NullMarked
package io.github.virtualthread.context;

import org.jspecify.annotations.NullMarked;
