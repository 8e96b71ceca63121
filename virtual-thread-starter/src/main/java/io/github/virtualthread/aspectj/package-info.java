/**
 * The same for woven code, by AspectJ. Start at {@link VirtualThreadAspect}.
 *
 * <p>Knows {@code aop} and AspectJ, which an application need not have; nobody knows it but the weaver.
 */
@NullMarked
package io.github.virtualthread.aspectj;

import org.jspecify.annotations.NullMarked;
