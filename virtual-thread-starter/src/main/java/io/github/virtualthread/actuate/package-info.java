/**
 * What an operator sees of calls and limits by Spring Boot's Actuator.
 *
 * <p>Needs Actuator and knows the engine below; only {@code autoconfigure} knows it.
 */
@NullMarked
package io.github.virtualthread.actuate;

import org.jspecify.annotations.NullMarked;
