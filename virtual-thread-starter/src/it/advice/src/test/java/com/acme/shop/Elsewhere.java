package com.acme.shop;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.limit.TaskLimit;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import org.slf4j.MDC;

/** A body that some advice has taken to a thread of its own. */
final class Elsewhere {

    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch finish = new CountDownLatch(1);
    private final CompletableFuture<String> end = new CompletableFuture<>();

    /** What the method does. */
    String run() {
        Thread thread = Thread.currentThread();
        begun.countDown();
        try {
            end.complete((finish.await(120, SECONDS) ? "finished" : "given up")
                    + (thread.isVirtual() ? ", virtual" : ", not virtual") + ", user " + MDC.get("user"));
        } catch (InterruptedException interrupt) {
            end.complete("interrupted");
        }
        return "";
    }

    /** Calls the method, cancels the call while the body runs, and waits for the permit while it still does. */
    void callAndCancel(Function<Elsewhere, CompletableFuture<String>> method, TaskLimit limit)
            throws InterruptedException {
        CompletableFuture<String> call;
        try (var user = MDC.putCloseable("user", "alice")) {
            call = method.apply(this);
        }
        assertThat(begun.await(120, SECONDS)).isTrue();
        assertThat(limit.available()).isEqualTo(limit.permits() - 1);
        call.cancel(true);
        await().atMost(120, SECONDS).until(() -> limit.available() == limit.permits());
        finish.countDown();
    }

    /** How the body ended. */
    String end() {
        return end.orTimeout(120, SECONDS).join();
    }
}
