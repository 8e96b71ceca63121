package io.github.virtualthread.cluster;

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
public final class LimitLedger {

    /** How long the local share of a member that is away is kept for it. */
    static final long REMEMBERED = Duration.ofHours(1).toMillis();

    private static final int NOT_KNOWN = -1; // until a member comes that these data should know
    private static final int OF_OLD_DATA = -2; // until a member comes that has local shares at all
    private static final int SHOWN = 200; // characters of a text that is none

    private final Map<String, Row> rows = new TreeMap<>();
    private boolean isNew;
    private String server = "";
    private long lostAt; // when a loss of data was noticed, or these data were created
    private long heldUpAt;
    private long noGrowthUntil;
    private int unseen = NOT_KNOWN; // local shares of members that have not claimed since data were lost

    /** A member, as it claimed last. */
    private record Row(
            long number,
            int holds,
            int wants,
            int permits,
            int localShare,
            long since,
            long claimed,
            long lease,
            long carefulUntil) {

        Row(Claim claim, int share, int localShare, long now, long carefulUntil) {
            this(
                    claim.number(),
                    share,
                    claim.wants(),
                    claim.permits(),
                    localShare,
                    now - claim.turn().toMillis(),
                    now,
                    claim.lease().toMillis(),
                    carefulUntil);
        }

        boolean isAlive(long now) {
            return now < claimed + lease;
        }

        boolean isForgotten(long now) {
            return now >= claimed + lease + REMEMBERED;
        }

        /** If the clock has stepped back, a lease ends as if it began now. */
        Row notAfter(long now) {
            return claimed <= now
                    ? this
                    : new Row(
                            number,
                            holds,
                            wants,
                            permits,
                            localShare,
                            Math.min(since, now),
                            now,
                            lease,
                            Math.min(carefulUntil, now + lease));
        }
    }

    /** A claim, and what was stored of its member before. */
    private record Arrival(Claim claim, @Nullable Row mine, long now, long age) {

        long lease() {
            return claim.lease().toMillis();
        }

        /** A member that has had no answer for so long may have been forgotten. */
        boolean isOfNewMember() {
            return claim.last() == 0 || age >= REMEMBERED;
        }

        boolean wasAway() {
            return isOfNewMember() || age >= lease() / 2;
        }

        /** The member has had an answer that these data know nothing of. */
        boolean isMissed() {
            return !isOfNewMember() && (mine == null || mine.number < claim.last());
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
            ledger.unseen = Integer.parseInt(head[3]);
            ledger.server = decoded(head[4]);
            for (String line : lines.subList(1, lines.size())) {
                String[] words = line.split(" ");
                long[] of = Arrays.stream(words, 1, words.length)
                        .mapToLong(Long::parseLong)
                        .toArray();
                ledger.rows.put(
                        decoded(words[0]),
                        new Row(of[0], (int) of[1], (int) of[2], (int) of[3], (int) of[4], of[5], of[6], of[7], of[8]));
            }
            if (!ledger.text().equals(text)) {
                throw new IllegalArgumentException("It has other words");
            }
            return ledger;
        } catch (RuntimeException wrong) {
            String start = text.length() > SHOWN ? text.substring(0, SHOWN) + "..." : text;
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
        String head = lostAt + " " + heldUpAt + " " + noGrowthUntil + " " + unseen + " " + encoded(server) + "\n";
        return rows.entrySet().stream()
                .map(each -> line(each.getKey(), each.getValue()))
                .collect(Collectors.joining("", head, ""));
    }

    private static String line(String member, Row row) {
        return encoded(member) + " " + row.number + " " + row.holds + " " + row.wants + " " + row.permits + " "
                + row.localShare + " " + row.since + " " + row.claimed + " " + row.lease + " " + row.carefulUntil
                + "\n";
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
        Row stored = rows.get(claim.member());
        Row mine = stored == null || stored.isForgotten(now) ? null : stored;
        if (mine != null && claim.number() <= mine.number) {
            return late(claim, mine.number);
        }
        Arrival arrival = new Arrival(claim, mine, now, claim.age().plus(late).toMillis());
        rows.remove(claim.member());
        // nobody is there of the others, who have not left: all have died, or these data are old
        boolean silent = !rows.isEmpty() && rows.values().stream().noneMatch(row -> row.isAlive(now));
        rows.values().removeIf(row -> row.isForgotten(now));
        noteLoss(arrival, silent, server);
        noteUnseen(arrival);
        long carefulUntil = arrival.wasAway() ? now + arrival.lease() : mine == null ? 0 : mine.carefulUntil;
        Answer answer = answer(claim, now, now < carefulUntil);
        if (!claim.leaves()) {
            rows.put(claim.member(), new Row(claim, answer.share(), answer.localShare(), now, carefulUntil));
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
            unseen = isMoved ? OF_OLD_DATA : NOT_KNOWN;
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

    /** Local shares that are not known are lent to nobody, until those that have them could be forgotten. */
    private void noteUnseen(Arrival arrival) {
        Claim claim = arrival.claim;
        int more = claim.localShare() - (arrival.mine == null ? 0 : arrival.mine.localShare);
        if (arrival.now >= lostAt + REMEMBERED) {
            unseen = 0;
        } else if ((unseen == OF_OLD_DATA || (unseen == NOT_KNOWN && arrival.isMissed()))
                && claim.localShare() + claim.asksLocal() > 0) {
            unseen = (int) Math.max(0, claim.permits() - claim.localShare() - localShares(true, arrival.now));
        } else if (more > 0 && unseen > 0) {
            unseen = Math.max(0, unseen - more);
        }
    }

    private long localShares(boolean alsoOfTheLiving, long now) {
        return rows.values().stream()
                .filter(row -> alsoOfTheLiving || !row.isAlive(now))
                .mapToLong(Row::localShare)
                .sum();
    }

    private Answer answer(Claim claim, long now, boolean careful) {
        int permits = claim.permits();
        long held = 0;
        List<Answer.Other> others = new ArrayList<>();
        for (Map.Entry<String, Row> each : rows.entrySet()) {
            Row row = each.getValue();
            boolean alive = row.isAlive(now);
            if (alive) {
                permits = Math.min(permits, row.permits);
                held += row.holds;
            }
            others.add(new Answer.Other(
                    each.getKey(),
                    alive ? row.holds : 0,
                    alive ? row.wants : 0,
                    row.permits,
                    row.localShare,
                    row.since,
                    row.claimed,
                    alive));
        }
        int share = claim.holds();
        int localShare = claim.localShare();
        if (now >= noGrowthUntil) {
            int gone = Math.max(0, unseen);
            long free = permits - held - (careful ? localShares(false, now) + gone : 0);
            share = (int) Math.max(share, Math.min(claim.asks(), free));
            long freeLocal = permits - localShares(true, now) - gone;
            localShare = (int) Math.max(localShare, Math.min(claim.asksLocal(), freeLocal));
        }
        Duration noGrowthFor = Duration.ofMillis(Math.max(0, noGrowthUntil - now));
        return new Answer(share, localShare, permits, noGrowthFor, now, others, null);
    }
}
