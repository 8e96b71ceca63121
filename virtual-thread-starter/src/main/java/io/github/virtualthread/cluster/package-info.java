/**
 * Limits that all replicas of an application have together: each borrows a share of the permits. Start at {@code ClusterShares}.
 *
 * <p>Knows {@code limit}; the engines below it know their server's client, too. {@link
 * io.github.virtualthread.cluster.ClusterStore} is public for applications, all others for this jar only.
 */
@NullMarked
package io.github.virtualthread.cluster;

import org.jspecify.annotations.NullMarked;
