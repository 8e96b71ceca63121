/**
 * The advice for woven code, as an AspectJ aspect. Start at {@link VirtualThreadAspect}.
 *
 * <p>Knows {@code aop} and AspectJ, which is optional; only the weaver knows it.
 */
@NullMarked
package io.github.virtualthread.aspectj;

import org.jspecify.annotations.NullMarked;
