package io.github.virtualthread.cluster;

import java.util.List;
import java.util.Map;

/** Who ought to have how many of the permits. All members work that out for themselves, from the same numbers. */
final class Shares {

    /** How long, in milliseconds, what cannot be divided stays with the same members, at least. */
    static final long TURN = 500;

    /** So many beats it stays: in one, members give it up, and in the next one others get it. With less, some never do. */
    private static final int BEATS = 5;

    private Shares() {}

    /**
     * The share that is fair for one member. All have the same, who wants less has that; what cannot be divided goes round; of what
     * nobody wants, half is divided, so that a first call finds a permit, and half is left to the first who needs it.
     *
     * @param wants what each member wants, by its name; with that one
     * @param member name of the member
     * @param permits number of permits
     * @param now time in milliseconds, about the same for all members
     * @param beat time between two exchanges of a member in milliseconds, the same for all members
     * @return at least 0; more than the member wants if permits are left over
     */
    static int fair(Map<String, Integer> wants, String member, int permits, long now, long beat) {
        List<Map.Entry<String, Integer>> members = wants.entrySet().stream()
                .sorted(Map.Entry.<String, Integer>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
                .toList();
        int own = wants.getOrDefault(member, 0);
        int left = permits;
        int served = 0;
        while (served < members.size() && members.get(served).getValue() <= left / (members.size() - served)) {
            left -= members.get(served++).getValue();
        }
        if (served == members.size()) {
            return own + left / (2 * served);
        }
        List<String> hungry =
                members.stream().skip(served).map(Map.Entry::getKey).sorted().toList();
        if (!hungry.contains(member)) {
            return own;
        }
        return left / hungry.size()
                + (isItsTurn(
                                hungry.indexOf(member),
                                hungry.size(),
                                left % hungry.size(),
                                now / Math.max(TURN, BEATS * beat))
                        ? 1
                        : 0);
    }

    /** Each turn, the next ones have what is left over: in the time of as many turns as there are members, all equally often. */
    private static boolean isItsTurn(int place, int members, int leftOver, long turn) {
        long first = Math.floorMod(turn * leftOver, (long) members);
        return Math.floorMod(place - first, (long) members) < leftOver;
    }
}
