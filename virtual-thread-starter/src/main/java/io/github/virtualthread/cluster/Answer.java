package io.github.virtualthread.cluster;

import java.util.List;

/**
 * What an engine lends to a member of a cluster.
 *
 * @param share number of permits that the member may use; what it holds, or more if it asks for more and that is free
 * @param permits maximum number of calls that run at once: the smallest number that a living member says
 * @param epoch names the data of the engine; another one after these were lost
 * @param now time of the engine, in milliseconds since any moment that is the same for all members
 * @param others the other living members
 */
public record Answer(int share, int permits, String epoch, long now, List<Other> others) {

    /** Copies the list. */
    public Answer {
        others = List.copyOf(others);
    }

    /**
     * Another member, as it was when it told last.
     *
     * @param member its name
     * @param holds number of permits that it may use
     * @param wants number of its calls that run and wait
     * @param permits maximum number of calls in all members together, as it is configured
     */
    public record Other(String member, int holds, int wants, int permits) {}
}
