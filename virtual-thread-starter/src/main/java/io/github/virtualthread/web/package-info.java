/**
 * The limit at the door, and answers to web requests whose call was rejected or has timed out, for Spring MVC and for WebFlux.
 * Start at {@link WebLimitFilter} and {@link RejectionAnswer}.
 *
 * <p>Knows {@code limit} and {@code execution}, and Spring's web packages and the servlet API where they are on the classpath; only
 * {@code autoconfigure} knows it.
 */
@NullMarked
package io.github.virtualthread.web;

import org.jspecify.annotations.NullMarked;
