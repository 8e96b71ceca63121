/**
 * Which methods run on virtual threads, and the advice that sends them there. Start at {@link
 * VirtualThreadBeanPostProcessor}.
 *
 * <p>Knows {@code mistake}, {@code bytecode}, {@code limit}, {@code context} and {@code execution}, and Spring's core, beans,
 * context and AOP; not Spring Boot, and not {@code config}, which registers what is here.
 */
@NullMarked
package io.github.virtualthread.aop;

import org.jspecify.annotations.NullMarked;
