/**
 * Switches the annotation on for plain Spring and Spring Boot alike. Start at {@link EnableVirtual}.
 *
 * <p>Spring, not Spring Boot. Knows all packages below it.
 */
@NullMarked
package io.github.virtualthread.config;

import org.jspecify.annotations.NullMarked;
