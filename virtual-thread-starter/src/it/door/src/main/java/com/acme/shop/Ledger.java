package com.acme.shop;

import io.github.virtualthread.execution.TaskCall;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.limit.LimitExceededException;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.stereotype.Component;

/** Counts the requests at the door. */
@Component
class Ledger implements TaskListener {

    final AtomicInteger submitted = new AtomicInteger();
    final AtomicInteger started = new AtomicInteger();
    final AtomicInteger rejected = new AtomicInteger();
    final AtomicInteger finished = new AtomicInteger();

    @Override
    public void submitted(TaskCall call) {
        count(call, submitted);
    }

    @Override
    public void started(TaskCall call) {
        count(call, started);
    }

    @Override
    public void rejected(TaskCall call, LimitExceededException rejection) {
        count(call, rejected);
    }

    @Override
    public void finished(TaskCall call, Outcome outcome, Throwable failure) {
        count(call, finished);
    }

    private static void count(TaskCall call, AtomicInteger counter) {
        if (call.spec().name().equals("web-request")) {
            counter.incrementAndGet();
        }
    }
}
