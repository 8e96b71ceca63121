/**
 * What an operator sees of calls and limits through Spring Boot's Actuator. Start at {@link VirtualThreadsEndpoint}.
 *
 * <p>Needs Actuator and knows the engine below; only {@code autoconfigure} knows it. The JSON that the
 * endpoints answer is what to rely on.
 */
@NullMarked
package io.github.virtualthread.actuate;

import org.jspecify.annotations.NullMarked;
