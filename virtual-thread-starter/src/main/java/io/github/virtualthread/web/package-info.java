/**
 * Answers to web requests whose call was rejected, for Spring MVC and for WebFlux. Start at {@link RejectionAnswer}.
 *
 * <p>Knows the rejection in {@code limit}, and Spring's web packages where they are on the classpath; only
 * {@code autoconfigure} knows it. Its types are public for this jar only.
 */
@NullMarked
package io.github.virtualthread.web;

import org.jspecify.annotations.NullMarked;
