package io.github.virtualthread.actuate;

import java.util.List;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * All limits and methods at one moment.
 *
 * @param limits every limit, in alphabetical order
 * @param methods every annotated method, and what was called by hand, in alphabetical order
 */
public record Overview(List<LimitState> limits, List<MethodState> methods) implements OperationResponseBody {}
