package io.github.virtualthread.cluster;

import java.util.function.LongSupplier;

/**
 * The exchanges of a replica, as the share of a limit needs them.
 *
 * @param beat time between two of them in nanoseconds
 * @param ask starts one soon, without blocking
 */
record Exchanges(LongSupplier beat, Runnable ask) {}
