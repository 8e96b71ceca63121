package io.github.virtualthread.cluster;

import java.time.Duration;

/** Claims of members that would wait without the engine, of a limit with ten permits. */
public final class TestClaims {

    /** Of members that live through a test. */
    public static final Duration LONG = Duration.ofHours(1);

    public static final int PERMITS = 10;

    private TestClaims() {}

    /** The first of a member. */
    public static Claim claim(String limit, String member, int asks) {
        return claim(limit, member, 1, 0, 0, asks, LONG);
    }

    public static Claim claim(
            String limit, String member, long number, long last, int holds, int asks, Duration lease) {
        Duration none = Duration.ZERO;
        return new Claim(limit, member, number, last, none, none, PERMITS, 0, holds, asks, asks, none, lease);
    }

    /** Of a member that holds this, and asks for nothing more. */
    public static Claim holding(String member, int permits, long number, int holds, int wants) {
        Duration none = Duration.ZERO;
        return new Claim("partner", member, number, 0, none, none, permits, 0, holds, wants, holds, none, LONG);
    }

    public static Claim goodbye(String limit, String member, long number) {
        return claim(limit, member, number, 0, 0, 0, Duration.ZERO);
    }
}
