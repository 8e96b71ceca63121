package io.github.virtualthread.execution;

import io.github.virtualthread.timer.TaskTimer;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A program of its own, for {@link CarrierOutcomeTests}: with one carrier, the virtual thread that has it hands actions off. The
 * first comes late, so a platform thread takes it. Such threads are started by others only.
 */
final class CarrierHandOffs {

    static final int ACTIONS = 1_000;

    private final TaskTimer timer = new TaskTimer("timer");
    private final AtomicInteger late = new AtomicInteger();
    private final AtomicInteger onPlatformThreads = new AtomicInteger();
    private final CountDownLatch ran = new CountDownLatch(ACTIONS);
    private final CountDownLatch timerHeld = new CountDownLatch(1);
    private final CountDownLatch releaseTimer = new CountDownLatch(1);

    private CarrierHandOffs() {}

    public static void main(String[] arguments) throws Exception {
        new CarrierHandOffs().run();
        System.exit(0); // whatever threads hang
    }

    private void run() throws InterruptedException {
        Thread carried = Thread.ofVirtual().start(this::handOff);
        carried.join(ChildProgram.ENOUGH);
        boolean unused = ran.await(ChildProgram.ENOUGH.toMillis(), TimeUnit.MILLISECONDS);
        ChildProgram.tell("late hand offs run while the carrier is kept", late.get());
        ChildProgram.tell("actions not run", ran.getCount());
        ChildProgram.tell("actions on platform threads", onPlatformThreads.get());
        releaseTimer.countDown();
    }

    /** Never parks: the carrier is free once this has ended. The timer's thread, which may start platform threads, stands then. */
    private void handOff() {
        handOffLate();
        handOffLate(); // while that platform thread waits for more
        while (anyTakes()) { // until they have waited for long enough
            Thread.onSpinWait();
        }
        timer.schedule(
                () -> {
                    timerHeld.countDown();
                    TestEngine.awaitStubbornly(releaseTimer);
                },
                0);
        spinUntilZero(timerHeld);
        for (int i = 0; i < ACTIONS; i++) {
            timer.handOff(() -> {
                if (!Thread.currentThread().isVirtual()) {
                    onPlatformThreads.incrementAndGet();
                }
                ran.countDown();
            });
        }
    }

    private void handOffLate() {
        CountDownLatch told = new CountDownLatch(1);
        timer.handOff(() -> {
            late.incrementAndGet();
            told.countDown();
        });
        spinUntilZero(told);
    }

    /** Whether a platform thread takes actions, or starts one that will. On a busy machine there may be more than one. */
    private static boolean anyTakes() {
        return Thread.getAllStackTraces().values().stream()
                .flatMap(Arrays::stream)
                .anyMatch(frame -> frame.getClassName().startsWith(TaskTimer.class.getPackageName() + ".HandOffs"));
    }

    private static void spinUntilZero(CountDownLatch latch) {
        while (latch.getCount() > 0) {
            Thread.onSpinWait();
        }
    }
}
