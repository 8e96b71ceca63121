package io.github.virtualthread.cluster;

import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The exchanges of a replica, as the share of a limit needs them.
 *
 * @param beat time between two of them in nanoseconds
 * @param ask starts one soon, without blocking
 * @param remove says a goodbye for another member, and blocks until the engine has answered
 */
record Exchanges(LongSupplier beat, Runnable ask, Consumer<Claim> remove) {}
