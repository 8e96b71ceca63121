/**
 * Limits that take their permits from the size of a pool, and follow it. Start at {@link PoolPermits}.
 *
 * <p>Knows {@code mistake}, {@code limit} and {@code execution}, Spring and HikariCP; not Spring Boot.
 */
@NullMarked
package io.github.virtualthread.pool;

import org.jspecify.annotations.NullMarked;
