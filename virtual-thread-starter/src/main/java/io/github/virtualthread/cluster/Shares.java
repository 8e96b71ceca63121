package io.github.virtualthread.cluster;

import java.util.Comparator;
import java.util.List;

/**
 * Who should have how many of the permits. All members work that out for themselves, from the same numbers.
 *
 * @param fair number of permits that a member should have; more than it wants if permits are left over
 * @param even number of permits that it has in any case
 * @param isHungry whether it wants more than that
 */
record Shares(int fair, int even, boolean isHungry) {

    /** Where each member has a permit at least, what cannot be divided stays for so many beats. */
    private static final int BEATS = 5;

    /** However short a beat is, a turn lasts so long, and a member that does not claim is waited for so long. */
    private static final long SHORTEST_TURN_MILLIS = 500;

    /** Where members have nothing meanwhile, it stays for so many beats, or until the call that it runs has ended. */
    private static final int BEATS_OF_NOTHING = 2;

    /** A member that wants more claims at each beat. One that has not for so long is not waited for. */
    private static final int BEATS_MISSED = 5;

    private static final int RANK_AFTER_TURN = 2; // the rank of those who have had their turn

    /**
     * The share that is fair for one member. All have the same, and a member that wants less has that. What cannot be divided goes
     * to those that have waited longest. Of what nobody wants, half is divided, so that a first call finds a permit, and half is left
     * to the first who needs it.
     *
     * @param members all of them
     * @param name name of the member; the last one of this name counts
     * @param permits number of permits
     * @param now time in milliseconds, about the same for all members
     * @param beat time between two exchanges of a member in milliseconds, the same for all members
     * @return share of the member
     */
    static Shares fair(List<Answer.Other> members, String name, int permits, long now, long beat) {
        List<Answer.Other> byWants = members.stream()
                .sorted(Comparator.comparingInt(Answer.Other::wants).thenComparing(Answer.Other::member))
                .toList();
        int left = permits;
        int served = 0;
        while (served < byWants.size() && byWants.get(served).wants() <= left / (byWants.size() - served)) {
            left -= byWants.get(served++).wants();
        }
        Answer.Other own = members.stream()
                .filter(member -> member.member().equals(name))
                .findFirst()
                .orElseThrow();
        if (served == byWants.size()) {
            return new Shares(own.wants() + left / (2 * served), own.wants(), false);
        }
        List<Answer.Other> hungry = byWants.subList(served, byWants.size());
        if (!hungry.contains(own)) {
            return new Shares(own.wants(), own.wants(), false);
        }
        int even = left / hungry.size();
        long turn = even == 0 ? BEATS_OF_NOTHING * beat : Math.max(SHORTEST_TURN_MILLIS, BEATS * beat);
        List<Answer.Other> order = hungry.stream()
                .filter(member -> member.holds() > even
                        || member.equals(own)
                        || now - member.claimed() <= Math.max(SHORTEST_TURN_MILLIS, BEATS_MISSED * beat))
                .sorted(Comparator.comparingInt((Answer.Other member) -> rank(member, even, now - turn))
                        .thenComparingLong(member ->
                                rank(member, even, now - turn) < RANK_AFTER_TURN ? member.since() : -member.since())
                        .thenComparing(Answer.Other::member))
                .toList();
        int more = left % hungry.size();
        boolean isNext = order.indexOf(own) < more && (own.holds() > even || isNextToTake(order, own, even, more));
        return new Shares(even + (isNext ? 1 : 0), even, true);
    }

    /** What those still hold who give way is not free yet: whoever waits for that must not take what others have waited for longer. */
    private static boolean isNextToTake(List<Answer.Other> order, Answer.Other own, int even, int more) {
        List<Answer.Other> waiting =
                order.stream().filter(member -> member.holds() <= even).toList();
        int free = more - (order.size() - waiting.size());
        return waiting.indexOf(own) < Math.max(1, free);
    }

    /**
     * Those who have had it for less than a turn keep it; then come those who wait, the longest first, and then those who have had
     * their turn: who has had it longest gives way first.
     */
    private static int rank(Answer.Other member, int even, long turnOver) {
        if (member.holds() <= even) {
            return 1;
        }
        return member.since() > turnOver ? 0 : RANK_AFTER_TURN;
    }
}
