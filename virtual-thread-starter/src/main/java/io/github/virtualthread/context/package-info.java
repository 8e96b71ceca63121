/**
 * What the body of a task sees of its caller: captured here, opened there, closed. Start at {@link ContextPropagation}.
 *
 * <p>JDK and SLF4J; Micrometer's context-propagation is optional. Used by {@code execution} and above; knows none of them.
 */
@NullMarked
package io.github.virtualthread.context;

import org.jspecify.annotations.NullMarked;
