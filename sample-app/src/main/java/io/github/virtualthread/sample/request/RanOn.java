package io.github.virtualthread.sample.request;

import org.slf4j.MDC;

/**
 * Thread on which a piece of work ran.
 *
 * @param thread name of the thread
 * @param virtual whether it is a virtual one
 * @param requestId id of the request as the work saw it in the MDC; null where it did not arrive
 */
public record RanOn(String thread, boolean virtual, String requestId) {

    static final String REQUEST_ID = "requestId";

    public static RanOn here() {
        Thread thread = Thread.currentThread();
        return new RanOn(thread.getName(), thread.isVirtual(), MDC.get(REQUEST_ID));
    }
}
