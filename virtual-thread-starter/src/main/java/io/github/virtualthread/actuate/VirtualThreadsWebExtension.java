package io.github.virtualthread.actuate;

import java.util.NoSuchElementException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

/**
 * The operations of {@link VirtualThreadsEndpoint} over HTTP: what they throw becomes status 404 or 400, with the reason in
 * the body.
 */
@EndpointWebExtension(endpoint = VirtualThreadsEndpoint.class)
@RegisterReflectionForBinding(VirtualThreadsWebExtension.Problem.class)
public final class VirtualThreadsWebExtension {

    private final VirtualThreadsEndpoint endpoint;

    /**
     * An extension of one endpoint.
     *
     * @param endpoint does the work
     */
    public VirtualThreadsWebExtension(VirtualThreadsEndpoint endpoint) {
        this.endpoint = endpoint;
    }

    /**
     * Shows a limit and its live calls.
     *
     * @param limit name of a limit, or {@code none}
     * @param max most calls to show, from 1 to 10000; null for 100
     * @return a {@link LimitCalls}, or 404 or 400 with a {@link Problem}
     */
    @ReadOperation
    public WebEndpointResponse<?> limit(
            @Selector String limit, @org.springframework.lang.Nullable @Nullable String max) {
        return answer(() -> endpoint.limit(limit, max));
    }

    /**
     * Changes a limit.
     *
     * @param limit name of a limit
     * @param permits number of permits, null to leave it
     * @param queueCapacity capacity of the queue or {@code unbounded}, null to leave it
     * @param maxWait longest wait or {@code none}, null to leave it
     * @return a {@link LimitState}, or 404 or 400 with a {@link Problem}
     */
    @WriteOperation
    public WebEndpointResponse<?> change(
            @Selector String limit,
            @org.springframework.lang.Nullable @Nullable String permits,
            @org.springframework.lang.Nullable @Nullable String queueCapacity,
            @org.springframework.lang.Nullable @Nullable String maxWait) {
        return answer(() -> endpoint.change(limit, permits, queueCapacity, maxWait));
    }

    /**
     * Cancels one call, or rejects all that wait.
     *
     * @param limit name of a limit, or {@code none}
     * @param id number of the call to cancel; null to reject all calls that wait
     * @return an {@link Ended}, or 404 or 400 with a {@link Problem}
     */
    @DeleteOperation
    public WebEndpointResponse<?> end(@Selector String limit, @org.springframework.lang.Nullable @Nullable String id) {
        return answer(() -> endpoint.end(limit, id));
    }

    private static WebEndpointResponse<?> answer(Supplier<?> operation) {
        try {
            return new WebEndpointResponse<>(operation.get());
        } catch (NoSuchElementException unknown) {
            return problem(unknown, WebEndpointResponse.STATUS_NOT_FOUND);
        } catch (IllegalArgumentException wrong) {
            return problem(wrong, WebEndpointResponse.STATUS_BAD_REQUEST);
        }
    }

    private static WebEndpointResponse<Problem> problem(RuntimeException failure, int status) {
        return new WebEndpointResponse<>(new Problem(String.valueOf(failure.getMessage())), status);
    }

    /**
     * Why a request was refused.
     *
     * @param message the reason, and what to send instead
     */
    public record Problem(String message) implements OperationResponseBody {}
}
