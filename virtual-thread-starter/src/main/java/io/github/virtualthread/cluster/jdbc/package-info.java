/**
 * The engine that lends permits to replicas by the database of the application. Knows {@code cluster} and JDBC, and no Spring.
 */
@NullMarked
package io.github.virtualthread.cluster.jdbc;

import org.jspecify.annotations.NullMarked;
