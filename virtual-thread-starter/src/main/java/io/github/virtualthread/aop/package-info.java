/**
 * Finds annotated methods, checks them, and runs their calls on virtual threads or under their limits. Start at
 * {@link VirtualThreadBeanPostProcessor}.
 *
 * <p>{@code config} registers what is here, and {@code aspectj} calls it. Knows {@code mistake}, {@code bytecode}, {@code limit},
 * {@code context} and {@code execution}, and Spring's core, beans, context and AOP; not Spring Boot.
 */
@NullMarked
package io.github.virtualthread.aop;

import org.jspecify.annotations.NullMarked;
