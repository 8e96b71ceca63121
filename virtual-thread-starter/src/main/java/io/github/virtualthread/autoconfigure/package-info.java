/**
 * Auto-configurations and failure analyses for Spring Boot. Start at {@link VirtualThreadAutoConfiguration}.
 *
 * <p>The only package that sees all others; none of them knows it. Properties and {@code @Async} have packages below it.
 */
@NullMarked
package io.github.virtualthread.autoconfigure;

import org.jspecify.annotations.NullMarked;
