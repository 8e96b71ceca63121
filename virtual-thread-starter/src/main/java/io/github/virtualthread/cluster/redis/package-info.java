/**
 * The engine that lends permits to replicas by Redis, or by a server that speaks its language. Knows {@code cluster} and Spring Data
 * Redis.
 */
@NullMarked
package io.github.virtualthread.cluster.redis;

import org.jspecify.annotations.NullMarked;
