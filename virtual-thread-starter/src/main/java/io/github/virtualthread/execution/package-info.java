/**
 * Runs bodies on virtual threads, one thread each. Start at {@link TaskEngine}.
 *
 * <p>A <em>body</em> is what is run. A <em>call</em> asks for it to be run: a {@link Task} on a virtual thread of its own, a
 * {@link CallerTask} on the thread of its caller. A <em>spec</em> is what all calls of one name share.
 *
 * <p>Knows {@code limit} and {@code context}, but neither Spring Boot nor Spring AOP.
 */
@NullMarked
package io.github.virtualthread.execution;

import org.jspecify.annotations.NullMarked;
