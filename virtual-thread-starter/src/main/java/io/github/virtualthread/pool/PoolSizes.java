package io.github.virtualthread.pool;

import java.util.OptionalInt;
import javax.sql.DataSource;

/** Knows how many connections the pools of data sources have. Contributed by what knows pools, such as Spring Boot. */
@FunctionalInterface
public interface PoolSizes {

    /**
     * Most connections that the pool hands out at once, at this moment. Does not open any.
     *
     * @param dataSource a pool, or what stands in front of one
     * @return at least 1; empty where there is no pool, none of a known kind, or one without a bound
     */
    OptionalInt sizeOf(DataSource dataSource);
}
