package io.github.virtualthread.cluster.jdbc;

import io.github.virtualthread.cluster.Answer;
import io.github.virtualthread.cluster.Claim;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** What is stored of one limit, read under its lock, and the rules of {@code ClusterEngine}. */
final class LimitRows {

    /** A member, as it told last. */
    record Row(int permits, int holds, int wants, long number, long endsAt) {}

    /** Living members by their names. */
    final Map<String, Row> members = new TreeMap<>();

    /** Names of the members whose rows are in the table. */
    final Set<String> stored = new HashSet<>();

    final String epoch;
    private final long storedNoGrowthUntil;
    private long noGrowthUntil;

    LimitRows(String epoch, long noGrowthUntil) {
        this.epoch = epoch;
        this.storedNoGrowthUntil = noGrowthUntil;
        this.noGrowthUntil = noGrowthUntil;
    }

    void add(String member, Row row) {
        stored.add(member);
        members.put(member, row);
    }

    long noGrowthUntil() {
        return noGrowthUntil;
    }

    boolean isHeldUp() {
        return noGrowthUntil != storedNoGrowthUntil;
    }

    /** When the last lease ended, or later. */
    long endedAt() {
        return members.values().stream().mapToLong(Row::endsAt).reduce(noGrowthUntil, Math::max);
    }

    /** Changes the rows in memory. */
    Answer lend(Claim claim, long now) {
        members.values().removeIf(row -> row.endsAt <= now);
        Row mine = members.remove(claim.member());
        if (mine != null && claim.number() <= mine.number) {
            throw late(claim, mine);
        }
        long endsAt = now + claim.lease().toMillis();
        if (!claim.epoch().isEmpty() && !claim.epoch().equals(epoch)) {
            noGrowthUntil = Math.max(noGrowthUntil, endsAt); // others may hold what they have not told yet
        }
        int permits = claim.permits();
        long held = 0;
        List<Answer.Other> others = new ArrayList<>();
        for (Map.Entry<String, Row> each : members.entrySet()) {
            Row other = each.getValue();
            permits = Math.min(permits, other.permits);
            held += other.holds;
            others.add(new Answer.Other(each.getKey(), other.holds, other.wants, other.permits));
        }
        int share = claim.holds();
        if (now >= noGrowthUntil) {
            share = (int) Math.max(share, Math.min(claim.asks(), permits - held));
        }
        if (endsAt > now) {
            members.put(claim.member(), new Row(claim.permits(), share, claim.wants(), claim.number(), endsAt));
        }
        if (members.isEmpty()) {
            noGrowthUntil = Math.max(noGrowthUntil, now); // says how long nobody has claimed it
        }
        return new Answer(share, permits, epoch, now, others);
    }

    private static IllegalStateException late(Claim claim, Row mine) {
        return new IllegalStateException("Claim " + claim.number() + " of member '" + claim.member() + "' for limit '"
                + claim.limit() + "' is refused: claim " + mine.number
                + " of this member came first. The next claim corrects"
                + " it; if this is repeated, two replicas use the same member name");
    }
}
