/**
 * Ends the statements of bodies that are stopped, instead of breaking their connections. Start at {@link CancellableDataSource}.
 *
 * <p>Knows {@code execution} and JDBC, and not Spring Boot. One class knows HikariCP and the data sources of Spring, both optional.
 */
@NullMarked
package io.github.virtualthread.jdbc;

import org.jspecify.annotations.NullMarked;
