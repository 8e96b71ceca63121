/**
 * Limits that all replicas of an application have together: each borrows a share of the permits. Start at {@code ClusterShares}.
 *
 * <p>Knows {@code limit}; the engines below it know their server's client, too. An application that
 * has an engine of its own needs {@link io.github.virtualthread.cluster.ClusterStore} only.
 */
@NullMarked
package io.github.virtualthread.cluster;

import org.jspecify.annotations.NullMarked;
