package io.github.virtualthread.web;

import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * Finds the key of a web request: under the limit at the door, keys take turns. A bean of this type is used for all requests
 * that need a permit of {@code virtual-thread.web.limit}, whatever {@code virtual-thread.web.key} says.
 *
 * <p>By default the filter comes before Spring Security, so the user of the request is not known yet. Use a header, a cookie or
 * the address of the client, as {@code ServletRequest::getRemoteAddr} does; or set {@code virtual-thread.web.order} to a place
 * behind Spring Security.
 */
@FunctionalInterface
public interface RequestKey {

    /**
     * Returns the key of a request. Called before the request waits for its permit, on its thread. If it throws, the request fails
     * with that exception, as if a filter had thrown it, and takes no permit.
     *
     * @param request request that has arrived
     * @return key, of which {@code toString()} counts; null for none. All requests without a key take turns as one key
     */
    @Nullable
    Object key(HttpServletRequest request);
}
