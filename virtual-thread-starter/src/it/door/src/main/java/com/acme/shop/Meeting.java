package com.acme.shop;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Where a request and the test that sends it meet. */
final class Meeting {

    /** The request has come to the container's filters; it may have to wait at the door. */
    final CountDownLatch arrived = new CountDownLatch(1);

    /** Its handler has begun, which means that it has its permit. */
    final CountDownLatch begun = new CountDownLatch(1);

    /** Its first thread has left the filters; the answer may come later. */
    final CountDownLatch left = new CountDownLatch(1);

    /** One of both. */
    final CountDownLatch begunOrLeft = new CountDownLatch(1);

    /** The body of a call of the request has begun. */
    final CountDownLatch bodyBegun = new CountDownLatch(1);

    /** That body was interrupted before the gate was opened. */
    final CountDownLatch bodyInterrupted = new CountDownLatch(1);

    /** That body has come to its end. */
    final CountDownLatch bodyEnded = new CountDownLatch(1);

    /** Opened by the test: the handler, or the body, goes on. */
    final CountDownLatch gate = new CountDownLatch(1);

    static void await(CountDownLatch latch) {
        try {
            if (!latch.await(4, TimeUnit.MINUTES)) {
                throw new IllegalStateException("Nobody came");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
