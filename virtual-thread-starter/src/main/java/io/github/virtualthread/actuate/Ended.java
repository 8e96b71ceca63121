package io.github.virtualthread.actuate;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * What a DELETE has done.
 *
 * @param limit name of the limit, {@code none} for calls without one
 * @param rejected how many waiting calls were rejected
 * @param cancelled how many calls were cancelled
 */
public record Ended(String limit, int rejected, int cancelled) implements OperationResponseBody {}
