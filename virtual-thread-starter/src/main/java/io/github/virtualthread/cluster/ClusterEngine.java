package io.github.virtualthread.cluster;

import io.github.virtualthread.Internal;
import java.time.Duration;
import java.util.List;

/**
 * Where the permits of limits with {@code cluster-permits} are lent to the replicas of an application, by a server that all of them
 * reach: {@link StoredLimits} for any store, and a script for Redis.
 *
 * <p>A replica, here a <em>member</em>, borrows a share of the permits for the time of a lease and runs its calls with that. No
 * call talks to the engine. The members decide who should get how many; an engine only ensures that it never lends more than there
 * is. It stores for each limit what each member claimed last, and whether shares may grow. For each claim, in one atomic step, it:
 *
 * <ol>
 *   <li>takes its own time, which is the only one that counts. If that has stepped back, a lease ends as if it began now, and the
 *       time without growth is as long as it was;
 *   <li>forgets members whose last claim is two leases old. One whose lease is over holds nothing;
 *   <li>refuses the claim, by {@link Answer#refused}, if its number is not above the last one of that member: a claim that was held
 *       up must not lower what the member has been lent since. Other claims of the exchange are stored;
 *   <li>notices that data may have been lost: it has none of this limit; or another server process has them than at the last claim;
 *       or it does not have the claim that the member was answered last, less than a lease ago, and no loss was noticed since then; or
 *       the clock has stepped forward, by half a lease more than the member says, and no other member has claimed since; or the member
 *       is new, and of the others, who have not left, none is alive, those that were forgotten just now included. Then no share of that
 *       limit grows for the time of the lease of the claim;
 *   <li>works out what is free: the permits, of which the smallest number counts that a living member says, less what the living
 *       members hold, less a local share for each member that may be alone. A local share is the permits, divided by the number of
 *       replicas of the claim. A member may be alone if it is not there; or if the last claim whose answer it is known to have had is a
 *       lease old; or if it has not claimed since the youngest member started, which may have replaced it. The latter two have what
 *       they hold already;
 *   <li>lends what the member holds; and if it asks for more, and shares may grow, as much more as is free;
 *   <li>stores that; or, if the lease of the claim is zero, deletes all of the member;
 *   <li>answers with that, and with the other members.
 * </ol>
 *
 * {@link LimitLedger} has these rules in Java, and {@code claim.lua} for Redis.
 */
@Internal
@FunctionalInterface
public interface ClusterEngine {

    /**
     * Stores what a member claims, and lends it what it asks for as far as that is free. May block: it is called on a thread of its
     * own, and by one thread at a time. That thread is interrupted if the answer has not come when the lease is over.
     *
     * @param claims one for each limit of this member that has something to tell; never empty, all of one member
     * @return one answer for each claim, in the same order
     * @throws Exception if the engine cannot be reached; then all claims count as not answered, and are made again
     */
    List<Answer> exchange(List<Claim> claims) throws Exception;

    /**
     * How often members should exchange while calls run or wait, if the application does not say so.
     *
     * @return 100 ms by default
     */
    default Duration beat() {
        return Duration.ofMillis(100);
    }
}
