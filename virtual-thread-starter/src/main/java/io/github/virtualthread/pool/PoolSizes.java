package io.github.virtualthread.pool;

import io.github.virtualthread.Internal;
import java.util.OptionalInt;
import javax.sql.DataSource;

/** Returns the sizes of connection pools. Implemented by a layer that knows pools, such as Spring Boot's. */
@Internal
@FunctionalInterface
public interface PoolSizes {

    /**
     * Current maximum number of connections of the pool. Opens no connection.
     *
     * @param dataSource a pool, or a proxy for one
     * @return at least 1; empty if there is no pool, or one of an unknown kind, or one without a maximum
     */
    OptionalInt sizeOf(DataSource dataSource);
}
