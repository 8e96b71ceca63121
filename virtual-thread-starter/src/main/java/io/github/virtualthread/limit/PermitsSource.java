package io.github.virtualthread.limit;

/**
 * Tells a limit how many permits it has: the size of a pool that is no {@link javax.sql.DataSource}, such as the connections
 * of an HTTP client.
 *
 * <p>A limit that names a bean of this type in {@code virtual-thread.limits.<name>.permits-from} asks it once all singletons
 * are there, and again every five seconds; a changed answer resizes the limit.
 */
@FunctionalInterface
public interface PermitsSource {

    /**
     * Size of the pool at this moment. Called on the thread that starts the application, later on virtual threads, never by
     * two at once for one limit. May block for a short time. What it throws fails the start; later it is logged and the limit
     * stays as it is.
     *
     * @return how many calls the pool can serve at once, at least 1
     */
    int permits();
}
