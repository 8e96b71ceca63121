package io.github.virtualthread.cluster;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an engine lends to a member of a cluster.
 *
 * @param share number of permits that the member may use; what it holds, or more if it asks for more and that is free
 * @param localShare number of permits that the member may use if it loses the engine
 * @param permits maximum number of calls that run at once: the smallest number that a living member is configured with
 * @param noGrowthFor how long no share of the limit grows, because data may have been lost; zero if shares grow
 * @param now time of the engine, in milliseconds since any moment that is the same for all members
 * @param others the other members; also those whose lease is over, until they have been away for an hour
 * @param refusal why the claim was refused, null if it was not; then all else says nothing
 */
public record Answer(
        int share,
        int localShare,
        int permits,
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
        return new Answer(0, 0, 0, Duration.ZERO, 0, List.of(), why);
    }

    /**
     * Another member, as it was when it claimed last.
     *
     * @param member its name
     * @param holds number of permits that it may use; 0 if its lease is over
     * @param wants number of its calls that run and wait; 0 if its lease is over
     * @param permits maximum number of calls in all members together, as it is configured
     * @param localShare number of permits that it uses if it loses the engine
     * @param since time of the engine since which it has had one of the permits that cannot be divided evenly, or has wanted one
     * @param claimed time of the engine at which it claimed last
     * @param alive whether its lease is not over
     */
    public record Other(
            String member,
            int holds,
            int wants,
            int permits,
            int localShare,
            long since,
            long claimed,
            boolean alive) {}
}
