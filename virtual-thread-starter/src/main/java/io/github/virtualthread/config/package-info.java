/**
 * Switches the annotation on for plain Spring and Spring Boot alike. Start at {@link EnableVirtual}.
 *
 * <p>Spring, not Spring Boot. Knows all packages below it. All types but {@link EnableVirtual} and {@link
 * VirtualThreadDataSource} are public for this jar only.
 */
@NullMarked
package io.github.virtualthread.config;

import org.jspecify.annotations.NullMarked;
