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
 * The operations of {@link VirtualThreadsEndpoint} over HTTP. Their exceptions become status 404, 400 or 503, with the reason in
 * the body.
 *
 * <p>A parameter in the query or the body replaces a path variable of the same name. So the path variable has a name that no
 * client sends.
 */
@EndpointWebExtension(endpoint = VirtualThreadsEndpoint.class)
@RegisterReflectionForBinding(VirtualThreadsWebExtension.Problem.class)
public final class VirtualThreadsWebExtension {

    private final VirtualThreadsEndpoint endpoint;

    /**
     * Creates an extension of an endpoint.
     *
     * @param endpoint performs the operations
     */
    public VirtualThreadsWebExtension(VirtualThreadsEndpoint endpoint) {
        this.endpoint = endpoint;
    }

    /**
     * Shows a limit and its live calls.
     *
     * @param limitInPath name of a limit, or {@code none}
     * @param max maximum number of calls to show, from 1 to 10000; null for 100
     * @param key key whose calls are shown, null for all
     * @return a {@link VirtualThreadsEndpoint.LimitCallsDescriptor}, or 404 or 400 with a {@link Problem}
     */
    @ReadOperation
    public WebEndpointResponse<?> limit(
            @Selector String limitInPath,
            @org.springframework.lang.Nullable @Nullable String max,
            @org.springframework.lang.Nullable @Nullable String key) {
        return answer(() -> endpoint.limit(limitInPath, max, key));
    }

    /**
     * Changes a limit.
     *
     * @param limitInPath name of a limit
     * @param permits number of permits, null to keep it
     * @param queueCapacity capacity of the queue or {@code unbounded}, null to keep it
     * @param maxWait maximum wait or {@code none}, null to keep it
     * @param permitsPerKey number of permits for one key or {@code unbounded}, null to keep it
     * @param queueCapacityPerKey number of waiting calls of one key or {@code unbounded}, null to keep it
     * @param clusterPermits number of permits in all replicas together, null to keep it
     * @return a {@link VirtualThreadsEndpoint.LimitDescriptor}, or 404 or 400 with a {@link Problem}
     */
    @WriteOperation
    public WebEndpointResponse<?> change(
            @Selector String limitInPath,
            @org.springframework.lang.Nullable @Nullable String permits,
            @org.springframework.lang.Nullable @Nullable String queueCapacity,
            @org.springframework.lang.Nullable @Nullable String maxWait,
            @org.springframework.lang.Nullable @Nullable String permitsPerKey,
            @org.springframework.lang.Nullable @Nullable String queueCapacityPerKey,
            @org.springframework.lang.Nullable @Nullable String clusterPermits) {
        return answer(() -> endpoint.change(
                limitInPath, permits, queueCapacity, maxWait, permitsPerKey, queueCapacityPerKey, clusterPermits));
    }

    /**
     * Cancels one call, rejects all waiting calls, or takes back the share of a dead replica.
     *
     * @param limitInPath name of a limit, or {@code none}
     * @param id number of the call to cancel
     * @param all {@code true} to reject all waiting calls
     * @param member name of the replica whose share is taken back
     * @return a {@link VirtualThreadsEndpoint.EndedDescriptor}, or 404 or 400 with a {@link Problem}, or 503 if the engine that
     *     lends the permits cannot be reached
     */
    @DeleteOperation
    public WebEndpointResponse<?> end(
            @Selector String limitInPath,
            @org.springframework.lang.Nullable @Nullable String id,
            @org.springframework.lang.Nullable @Nullable String all,
            @org.springframework.lang.Nullable @Nullable String member) {
        try {
            return answer(() -> endpoint.end(limitInPath, id, all, member));
        } catch (IllegalStateException away) {
            return Problem.of(away, WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE);
        }
    }

    private static WebEndpointResponse<?> answer(Supplier<?> operation) {
        try {
            return new WebEndpointResponse<>(operation.get());
        } catch (NoSuchElementException unknown) {
            return Problem.of(unknown, WebEndpointResponse.STATUS_NOT_FOUND);
        } catch (IllegalArgumentException wrong) {
            return Problem.of(wrong, WebEndpointResponse.STATUS_BAD_REQUEST);
        }
    }

    /**
     * Why a request was refused.
     *
     * @param message the reason, and what to send instead
     */
    public record Problem(String message) implements OperationResponseBody {

        static WebEndpointResponse<Problem> of(RuntimeException failure, int status) {
            return new WebEndpointResponse<>(new Problem(String.valueOf(failure.getMessage())), status);
        }
    }
}
