package io.github.virtualthread.cluster;

import io.github.virtualthread.Internal;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an engine lends to a member of a cluster.
 *
 * @param share number of permits that the member may use; what it holds, or more if it asks for more and that is free
 * @param permits maximum number of calls that run at once: the smallest number that a living member is configured with
 * @param kept number of these that are lent to nobody, because members may be alone
 * @param keptFor number of members that they are kept for
 * @param noGrowthFor how long no share of the limit grows, because data may have been lost; zero if shares grow
 * @param now time of the engine, in milliseconds since any moment that is the same for all members
 * @param others the other members whose lease is not over
 * @param refusal why the claim was refused, null if it was not; then all else says nothing
 */
@Internal
public record Answer(
        int share,
        int permits,
        int kept,
        int keptFor,
        Duration noGrowthFor,
        long now,
        List<Other> others,
        @Nullable String refusal) {

    /** Copies the list. */
    public Answer {
        others = List.copyOf(others);
    }

    /**
     * Creates the answer to a claim that was not stored.
     *
     * @param why says what was wrong, and what to do
     * @return an answer that lends nothing
     */
    public static Answer refused(String why) {
        return new Answer(0, 0, 0, 0, Duration.ZERO, 0, List.of(), why);
    }

    /** How many permits the members may have together. */
    int lendable() {
        return permits - kept;
    }

    /**
     * Another member, as it was when it claimed last.
     *
     * @param member its name
     * @param holds number of permits that it may use
     * @param wants number of its calls that run and wait
     * @param permits maximum number of calls in all members together, as it is configured
     * @param since time of the engine since which it has had one of the permits that cannot be divided evenly, or has wanted one
     * @param claimed time of the engine at which it claimed last
     */
    public record Other(String member, int holds, int wants, int permits, long since, long claimed) {}
}
