/**
 * Ends the statements of bodies that are stopped, instead of breaking their connections. Start at {@link CancellableDataSource}.
 *
 * <p>Knows {@code execution} and JDBC; HikariCP in one class only, and not Spring Boot.
 */
@NullMarked
package io.github.virtualthread.jdbc;

import org.jspecify.annotations.NullMarked;
