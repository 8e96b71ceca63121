package io.github.virtualthread.cluster;

import io.github.virtualthread.Internal;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What an engine stores of one limit, and the rules of {@link ClusterEngine}; {@code claim.lua} has the same rules for Redis. Times
 * are milliseconds of the engine's clock. Not thread-safe.
 */
@Internal
public final class LimitLedger {

    private static final int SHOWN_CHARACTERS = 200; // characters of a text that is none

    private final Map<String, Row> rows = new TreeMap<>();
    private boolean isNew;
    private String server = "";
    private long lostAt; // when a loss of data was noticed, or these data were created
    private long heldUpAt;
    private long noGrowthUntil;

    /**
     * A member, as it claimed last.
     *
     * @param confirmed when the last claim was stored whose answer the member is known to have: two leases later it may be alone
     * @param started when the member began
     */
    private record Row(
            long number,
            int holds,
            int wants,
            int permits,
            long since,
            long claimed,
            long lease,
            long confirmed,
            long started) {

        boolean isAlive(long now) {
            return now < claimed + lease;
        }

        /** Then whoever borrows because of that gives it back before the member can be alone. */
        boolean isConfirmed(long now) {
            return now < confirmed + lease;
        }

        boolean isForgotten(long now) {
            return now >= claimed + 2 * lease;
        }

        /** If the clock has stepped back, a lease ends as if it began now, and nobody knows how long ago an answer came. */
        Row notAfter(long now) {
            if (claimed <= now) {
                return this;
            }
            long sinceNow = Math.min(since, now);
            return new Row(number, holds, wants, permits, sinceNow, now, lease, now - lease, Math.min(started, now));
        }
    }

    /** A claim, and what was stored of its member before. */
    private record Arrival(Claim claim, @Nullable Row mine, long now, long age) {

        long lease() {
            return claim.lease().toMillis();
        }

        long started() {
            return now - claim.running().toMillis();
        }

        boolean isOfNewMember() {
            return claim.last() == 0 || mine == null;
        }

        /** The member has had an answer that these data know nothing of. After a lease without one it may have been forgotten. */
        boolean isMissed() {
            return claim.last() > 0 && age < lease() && (mine == null || mine.number < claim.last());
        }

        /** The answer to the claim that is stored, if the member is known to have it; otherwise the one before. */
        long confirmed() {
            if (mine == null) {
                return now - lease();
            }
            return mine.number == claim.last() ? mine.claimed : mine.confirmed;
        }

        Row row(int share) {
            return new Row(
                    claim.number(),
                    share,
                    claim.wants(),
                    claim.permits(),
                    now - claim.turn().toMillis(),
                    now,
                    lease(),
                    confirmed(),
                    started());
        }
    }

    /** Permits that are lent to nobody, and the number of members that they are kept for. */
    private record Kept(long permits, int members) {

        static final Kept NONE = new Kept(0, 0);

        Kept and(int more) {
            return more <= 0 ? this : new Kept(permits + more, members + 1);
        }
    }

    /**
     * Creates a ledger without data: of a new limit, or of one whose data were lost.
     *
     * @param mayBeLost whether members may hold what these data do not show; false if no other process can have reached them
     */
    public LimitLedger(boolean mayBeLost) {
        isNew = mayBeLost;
    }

    /**
     * Reads what {@link #text()} has written.
     *
     * @param text stored text
     * @return the ledger
     * @throws IllegalArgumentException if the text is none of these
     */
    public static LimitLedger of(String text) {
        LimitLedger ledger = new LimitLedger(false);
        try {
            List<String> lines = text.lines().toList();
            String[] head = lines.getFirst().split(" ", -1);
            ledger.lostAt = Long.parseLong(head[0]);
            ledger.heldUpAt = Long.parseLong(head[1]);
            ledger.noGrowthUntil = Long.parseLong(head[2]);
            ledger.server = decoded(head[3]);
            for (String line : lines.subList(1, lines.size())) {
                String[] words = line.split(" ");
                long[] of = Arrays.stream(words, 1, words.length)
                        .mapToLong(Long::parseLong)
                        .toArray();
                ledger.rows.put(
                        decoded(words[0]),
                        new Row(of[0], (int) of[1], (int) of[2], (int) of[3], of[4], of[5], of[6], of[7], of[8]));
            }
            if (!ledger.text().equals(text)) {
                throw new IllegalArgumentException("It has other words");
            }
            return ledger;
        } catch (RuntimeException wrong) {
            String start = text.length() > SHOWN_CHARACTERS ? text.substring(0, SHOWN_CHARACTERS) + "..." : text;
            throw new IllegalArgumentException(
                    "was not written by this version of the starter: '" + start + "'", wrong);
        }
    }

    /**
     * Whether there is nothing to store: no member has stayed.
     *
     * @return false after the first claim of a member that has not left at once
     */
    public boolean isEmpty() {
        return isNew || (rows.isEmpty() && lostAt == 0);
    }

    /**
     * Writes all of this ledger.
     *
     * @return a line for the limit and one for each member, with visible ASCII characters alone
     */
    public String text() {
        String head = lostAt + " " + heldUpAt + " " + noGrowthUntil + " " + encoded(server) + "\n";
        return rows.entrySet().stream()
                .map(each -> line(each.getKey(), each.getValue()))
                .collect(Collectors.joining("", head, ""));
    }

    private static String line(String member, Row row) {
        return encoded(member) + " " + row.number + " " + row.holds + " " + row.wants + " " + row.permits + " "
                + row.since + " " + row.claimed + " " + row.lease + " " + row.confirmed + " " + row.started + "\n";
    }

    private static String encoded(String name) {
        return URLEncoder.encode(name, StandardCharsets.UTF_8);
    }

    private static String decoded(String name) {
        return URLDecoder.decode(name, StandardCharsets.UTF_8);
    }

    /**
     * Stores what a member claims, and lends what is free.
     *
     * @param claim the claim
     * @param now time of the engine
     * @param server names the server process that has the data, so that a failover shows; empty if it says nothing
     * @param late time between the claim and now that is known, such as the wait for a connection
     * @return the answer; a refused claim changes nothing
     */
    public Answer lend(Claim claim, long now, String server, Duration late) {
        rows.replaceAll((member, row) -> row.notAfter(now));
        Row mine = rows.get(claim.member());
        if (mine != null && claim.number() <= mine.number) {
            return late(claim, mine.number);
        }
        Arrival arrival = new Arrival(claim, mine, now, claim.age().plus(late).toMillis());
        rows.remove(claim.member());
        // nobody is there of the others, who have not left: all have died, or these data are old
        boolean silent = !rows.isEmpty() && rows.values().stream().noneMatch(row -> row.isAlive(now));
        noteLoss(arrival, silent, server);
        Answer answer = answer(arrival);
        if (!claim.leaves()) {
            rows.put(claim.member(), arrival.row(answer.share()));
        }
        return answer;
    }

    /**
     * Creates the answer to a claim that was overtaken.
     *
     * @param claim the claim
     * @param last number of the claim that came first
     * @return an answer that lends nothing
     */
    public static Answer late(Claim claim, long last) {
        return Answer.refused("Claim " + claim.number() + " of member '" + claim.member() + "' for limit '"
                + claim.limit() + "' was refused: claim " + last
                + " of this member came first. The next claim corrects it; if this is repeated, two replicas use the"
                + " same member name");
    }

    /** Others may hold what these data do not show: they tell it while the lease lasts, or lose it then. */
    private void noteLoss(Arrival arrival, boolean silent, String present) {
        long now = arrival.now;
        long until = now + arrival.lease();
        lostAt = Math.min(lostAt, now);
        if (heldUpAt > now) { // the clock has stepped back
            noGrowthUntil -= heldUpAt - now;
            heldUpAt = now;
        }
        if (arrival.claim.leaves()) {
            return;
        }
        boolean isMoved = !server.isEmpty() && !server.equals(present);
        boolean isNoted = lostAt > now - arrival.age; // since the member had its last answer
        boolean lost = isNew || isMoved || (arrival.isMissed() && !isNoted);
        if (lost) {
            lostAt = now;
        }
        boolean doubted = lost || isAhead(arrival) || (silent && arrival.isOfNewMember());
        if (doubted && until > noGrowthUntil) {
            heldUpAt = now;
            noGrowthUntil = until;
        }
        isNew = false;
        server = present;
    }

    /**
     * The clock has stepped forward, and leases have ended too early. The answer to the stored claim may have been lost. If another
     * member has claimed lately, its claim would have shown the step: so this one was held up.
     */
    private boolean isAhead(Arrival arrival) {
        Row mine = arrival.mine;
        return mine != null
                && !arrival.isOfNewMember()
                && !arrival.isMissed()
                && arrival.now - mine.claimed - arrival.age > mine.lease / 2
                && rows.values().stream().noneMatch(row -> arrival.now - row.claimed <= row.lease / 2);
    }

    private Answer answer(Arrival arrival) {
        Claim claim = arrival.claim;
        long now = arrival.now;
        rows.values().removeIf(row -> row.isForgotten(now));
        int permits = claim.permits();
        long held = 0;
        List<Answer.Other> others = new ArrayList<>();
        for (Map.Entry<String, Row> each : rows.entrySet()) {
            Row row = each.getValue();
            if (row.isAlive(now)) {
                permits = Math.min(permits, row.permits);
                held += row.holds;
                others.add(new Answer.Other(each.getKey(), row.holds, row.wants, row.permits, row.since, row.claimed));
            }
        }
        Kept kept = claim.replicas() == 0 ? Kept.NONE : kept(arrival, permits / claim.replicas());
        int share = claim.holds();
        if (now >= noGrowthUntil) {
            share = (int) Math.max(share, Math.min(claim.asks(), permits - kept.permits - held));
        }
        Duration noGrowthFor = Duration.ofMillis(Math.max(0, noGrowthUntil - now));
        int lentToNobody = (int) Math.min(permits, kept.permits);
        return new Answer(share, permits, lentToNobody, kept.members, noGrowthFor, now, others, null);
    }

    /**
     * A local share for each member that may be alone: for each that is not there, and for each that lives and may not have had an
     * answer for a lease; of the latter less what it holds. One that has not claimed since the youngest began may have died, and be
     * replaced by it: then another one is not there.
     */
    private Kept kept(Arrival arrival, int localShare) {
        List<Row> living =
                rows.values().stream().filter(row -> row.isAlive(arrival.now)).toList();
        long youngest = living.stream().mapToLong(Row::started).reduce(arrival.started(), Math::max);
        int missing = localShare == 0 ? 0 : Math.max(0, arrival.claim.replicas() - 1 - living.size());
        Kept kept = new Kept((long) missing * localShare, missing);
        for (Row row : living) {
            if (!row.isConfirmed(arrival.now) || row.claimed <= youngest) {
                kept = kept.and(localShare - row.holds);
            }
        }
        return kept;
    }
}
