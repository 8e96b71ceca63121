/**
 * Runs bodies on virtual threads, one thread each. Start at {@link TaskEngine}.
 *
 * <p>Knows {@code limit} and {@code context}; neither Spring Boot nor Spring AOP.
 */
@NullMarked
package io.github.virtualthread.execution;

import org.jspecify.annotations.NullMarked;
