/**
 * For the tests of applications: start at {@link LimitAssert}. For an engine of your own: {@link ClusterStoreContract}.
 *
 * <p>Tests also use what the starter has: {@link io.github.virtualthread.limit.TaskLimit#occupy} and {@code
 * VirtualThreads.awaitIdle}.
 */
@NullMarked
package io.github.virtualthread.test;

import org.jspecify.annotations.NullMarked;
