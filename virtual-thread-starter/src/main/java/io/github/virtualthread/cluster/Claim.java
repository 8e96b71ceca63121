package io.github.virtualthread.cluster;

import java.time.Duration;

/**
 * What a member of a cluster tells the engine about one limit.
 *
 * @param limit name of the limit, in its uniform form
 * @param member name of the member, unique among all that share the limit
 * @param number ascends from claim to claim of a member
 * @param epoch what the last answer said; empty if there was none
 * @param permits maximum number of calls that run at once in all members together, as this member is configured; at least 1
 * @param holds maximum number of permits that the member uses until it has the answer, at least 0
 * @param wants number of calls that run and wait, at least 0; tells the other members what would be fair
 * @param asks number of permits that the member would like to hold, at least 0
 * @param lease how long the answer is good; zero if the member leaves
 */
public record Claim(
        String limit,
        String member,
        long number,
        String epoch,
        int permits,
        int holds,
        int wants,
        int asks,
        Duration lease) {}
