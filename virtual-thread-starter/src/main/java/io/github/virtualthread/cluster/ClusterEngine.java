package io.github.virtualthread.cluster;

import java.time.Duration;
import java.util.List;

/**
 * Where the permits of limits with {@code cluster-permits} are lent to the replicas of an application: a server that all of them
 * reach. A bean of this type replaces the engines for Redis and for databases.
 *
 * <p>A replica, here a <em>member</em>, borrows a share of the permits for the time of a lease and runs its calls with that. No
 * call talks to the engine. Who ought to get how many is decided by the members; an engine only sees to it that it never lends more
 * than there is. For each claim, in one atomic step, it has to:
 *
 * <ol>
 *   <li>take its own time, which is the only one that counts;
 *   <li>forget members whose lease is over;
 *   <li>refuse the claim, by an exception, if its number is not above the last one of that member: a claim that was held up must
 *       not lower what the member has been lent since;
 *   <li>see whether it still has what the member was told before: if it has no epoch for the limit, it makes one. If the member
 *       knows another one, data were lost or the member was alone: for the time of the lease of the claim, no share of that limit
 *       grows;
 *   <li>work out what is free: the permits, of which the smallest number counts that a living member says, less what the others
 *       hold;
 *   <li>lend what the member holds; and if it asks for more, and shares may grow, as much more as is free;
 *   <li>store that as what the member holds, until the lease of the claim is over; or, if that lease is zero, forget the member;
 *   <li>answer with that, and with the other members.
 * </ol>
 *
 * A claim that is refused refuses all of its exchange: nothing of that is stored. A limit that no member has claimed for an hour may be
 * forgotten, and one that has no members any more, unless its shares may not grow at that moment.
 */
@FunctionalInterface
public interface ClusterEngine {

    /**
     * Stores what a member claims, and lends it what it asks for as far as that is free. May block: it is called on a thread of its
     * own, and by one thread at a time. That thread is interrupted if the answer has not come when the lease is over.
     *
     * @param claims one for each limit of this member that has something to tell; never empty, all of one member
     * @return one answer for each claim, in the same order
     * @throws Exception if the engine cannot be reached, or refuses; then all claims count as not answered, and are made again
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
