package io.github.virtualthread.cluster;

import java.time.Duration;

/** The ledger of one limit, at times that a test chooses, and members that claim permits of it. */
abstract class ClockedLedger {

    static final int PERMITS = 10;

    /** All times are milliseconds. */
    static final long LEASE = 10_000;

    static final long HOUR = 3_600_000;

    LimitLedger ledger = new LimitLedger(false);
    String server = "";
    long now = 1_000 * HOUR;

    void loseData() {
        now += 1;
        ledger = new LimitLedger(true);
    }

    /** Returns what goes back to the data of now. */
    Runnable backup() {
        String text = ledger.text();
        return () -> ledger = LimitLedger.of(text);
    }

    /** One of so many that may run without the engine. */
    Member alone(String name, int replicas) {
        Member member = new Member(name);
        member.replicas = replicas;
        return member;
    }

    /** Claims what a test says, and says how long ago its last answer came. */
    final class Member {

        private final String name;
        private final long started = now;
        int permits = PERMITS;
        int replicas;
        int wants; // as many as it asks for if that is 0
        long turn;
        long lease = LEASE;
        long number;
        private long last;
        private long answeredAt;

        Member(String name) {
            this.name = name;
        }

        Answer ask(int holds, int asks) {
            return askAfter(Math.max(0, now - answeredAt), holds, asks);
        }

        /** Its last answer came so long ago, by its own clock. */
        Answer askAfter(long age, int holds, int asks) {
            Answer answer = ledger.lend(claim(age, holds, asks), now, server, Duration.ZERO);
            if (answer.refusal() == null) {
                last = number;
                answeredAt = now;
            }
            return answer;
        }

        /** The claim comes, the answer does not. */
        void unanswered(int holds, int asks) {
            ledger.lend(claim(Math.max(0, now - answeredAt), holds, asks), now, server, Duration.ZERO);
        }

        Answer leave() {
            lease = 0;
            return ask(0, 0);
        }

        private Claim claim(long age, int holds, int asks) {
            return new Claim(
                    "partner",
                    name,
                    ++number,
                    last,
                    Duration.ofMillis(last == 0 ? 0 : age),
                    Duration.ofMillis(Math.max(0, now - started)),
                    permits,
                    replicas,
                    holds,
                    wants == 0 ? asks : wants,
                    asks,
                    Duration.ofMillis(turn),
                    Duration.ofMillis(lease));
        }
    }
}
