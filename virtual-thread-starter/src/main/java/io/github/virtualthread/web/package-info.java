/**
 * Answers to web requests whose call was rejected, for Spring MVC and for WebFlux. Start at {@link RejectionAnswer}.
 *
 * <p>Knows the rejection in {@code limit} and Spring's web packages, each where the application has it; only
 * {@code autoconfigure} knows it.
 */
@NullMarked
package io.github.virtualthread.web;

import org.jspecify.annotations.NullMarked;
