package io.github.virtualthread.sample.lab.experiment;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** For tests of what an experiment measures by the clock: it holds on a machine that keeps time. */
final class BusyMachine {

    private static final int TRIES = 3;

    private BusyMachine() {}

    /** One try must pass. What is wrong in the code is wrong in each. */
    static void mayTryAgain(ThrowingCallable test) throws Throwable {
        for (int i = 1; i < TRIES; i++) {
            try {
                test.call();
                return;
            } catch (AssertionError busy) {
                System.out.println("Once more, after: " + busy.getMessage());
            }
        }
        test.call();
    }
}
