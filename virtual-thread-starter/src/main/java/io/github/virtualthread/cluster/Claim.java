package io.github.virtualthread.cluster;

import io.github.virtualthread.Internal;
import java.time.Duration;

/**
 * What a member of a cluster tells the engine about one limit.
 *
 * @param limit name of the limit, in its uniform form
 * @param member name of the member, unique among all that share the limit
 * @param number ascends from claim to claim of a member, at least 1
 * @param last number of the last claim of this member that was answered, 0 if there was none
 * @param age time since that answer came, by the clock of the member; zero if there was none
 * @param running how long the member has been running
 * @param permits maximum number of calls that run at once in all members together, as this member is configured; at least 1
 * @param replicas number of members that may run without the engine, each with an equal part of the permits; 0 if none may
 * @param holds maximum number of permits that the member uses until it has the answer, at least 0
 * @param wants number of calls that run and wait, at least 0; tells the other members what would be fair
 * @param asks number of permits that the member would like to hold, at least 0
 * @param turn how long the member has had one of the permits that cannot be divided evenly, or has wanted one and has not had it
 * @param lease how long the answer is good; zero if the member leaves
 */
@Internal
public record Claim(
        String limit,
        String member,
        long number,
        long last,
        Duration age,
        Duration running,
        int permits,
        int replicas,
        int holds,
        int wants,
        int asks,
        Duration turn,
        Duration lease) {

    /**
     * Returns whether the member leaves: nothing is left of it afterwards.
     *
     * @return whether the lease is zero
     */
    public boolean leaves() {
        return lease.isZero();
    }
}
