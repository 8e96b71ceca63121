package io.github.virtualthread.actuate;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * A limit with its calls.
 *
 * @param limit the limit, null for calls without one
 * @param calls those that run, the oldest first, then those that wait, in the order of the queue
 * @param more how many further calls run or wait that are not shown
 */
public record LimitCalls(@Nullable LimitState limit, List<CallState> calls, int more)
        implements OperationResponseBody {}
