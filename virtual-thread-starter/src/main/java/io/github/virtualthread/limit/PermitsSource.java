package io.github.virtualthread.limit;

/**
 * Gives a limit its number of permits: the size of a pool that is not a {@link javax.sql.DataSource}, such as the connections
 * of an HTTP client.
 *
 * <p>A limit that names a bean of this type in {@code virtual-thread.limits.<name>.permits-from} asks it when all singletons
 * exist, and again every five seconds. A changed answer resizes the limit.
 */
@FunctionalInterface
public interface PermitsSource {

    /**
     * Returns the size of the pool at this moment. Called on the thread that starts the application, later on virtual threads,
     * and never by two threads at once for one limit. May block for a short time. An exception fails the start; later it is
     * logged and the limit stays as it is.
     *
     * @return how many calls the pool can serve at once, at least 1
     */
    int permits();
}
