package io.github.virtualthread.cluster;

import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.Numbers;
import org.jspecify.annotations.Nullable;

/** What a replica uses of the permits if it loses the engine: lent as shares are, so that all of them together are never too many. */
final class LocalShare {

    private final String member;
    private final @Nullable Integer replicas;
    private int recorded; // by the engine, or less

    /**
     * Creates the local share of a replica that the engine does not know yet.
     *
     * @param member name of the replica
     * @param replicas number of replicas, as it is configured; null if it is not
     */
    LocalShare(String member, @Nullable Integer replicas) {
        this.member = member;
        this.replicas = replicas;
    }

    int recorded() {
        return recorded;
    }

    void record(int permits) {
        recorded = permits;
    }

    /** Before the engine is told. */
    void giveUp(int most) {
        recorded = Math.min(recorded, most);
    }

    /** An equal part for each replica that is there, or that may be alone with its own. */
    int fair(@Nullable Answer last, int permits) {
        if (last == null) {
            return 0;
        }
        int parts = 1;
        int place = 0;
        for (Answer.Other other : last.others()) {
            if (other.alive() || other.localShare() > 0) {
                parts++;
                place += other.member().compareTo(member) < 0 ? 1 : 0;
            }
        }
        parts = Math.max(parts, replicas == null ? 1 : replicas);
        int inForce = Math.min(last.permits(), permits);
        return inForce / parts + (place < inForce % parts ? 1 : 0);
    }

    boolean isKnown(@Nullable Answer last) {
        return last != null || replicas != null;
    }

    /** What the engine has recorded; an equal part if it was never reached. */
    int size(@Nullable Answer last, int permits) {
        return last != null || replicas == null ? Math.min(recorded, fair(last, permits)) : permits / replicas;
    }

    /** What calls do without the engine. */
    String describe(OnFailure onFailure, @Nullable Answer last, int permits) {
        if (onFailure == OnFailure.REJECT) {
            return " rejects new calls";
        }
        if (onFailure == OnFailure.LOCAL_SHARE && isKnown(last)) {
            return " goes on alone with %d of %s".formatted(size(last, permits), Numbers.of(permits, "permit"));
        }
        return " lets its calls wait"
                + (onFailure == OnFailure.WAIT
                        ? ""
                        : ", because this replica does not know how many there are: set"
                                + " virtual-thread.cluster.replicas");
    }
}
