package com.acme.shop;

import io.github.virtualthread.execution.Deadline;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

/** Every kind of answer; each waits for its gate, but those that are ready at once. */
@RestController
class AnswersController {

    /** Not a few milliseconds: Jetty schedules a timeout before it notes it, and forgets one that fires in between. */
    static final long TIMEOUT = 500;

    private final Meetings meetings;

    AnswersController(Meetings meetings) {
        this.meetings = meetings;
    }

    @GetMapping("/plain")
    String plain(String id) {
        meetings.begin(id);
        return "plain";
    }

    @GetMapping("/gated")
    String gated(String id) {
        Meeting.await(meetings.begin(id).gate);
        return "gated, deadline " + Deadline.remaining().isPresent();
    }

    @GetMapping("/throws")
    String failing(String id) {
        Meeting.await(meetings.begin(id).gate);
        throw new IllegalStateException("Thrown by the handler");
    }

    @GetMapping("/error-of-the-jvm")
    String error(String id) {
        meetings.begin(id);
        throw new StackOverflowError("Thrown by the handler");
    }

    @GetMapping("/deferred")
    DeferredResult<String> deferred(String id) {
        CountDownLatch gate = meetings.begin(id).gate;
        DeferredResult<String> result = new DeferredResult<>(0L);
        Thread.startVirtualThread(() -> {
            Meeting.await(gate);
            result.setResult("deferred");
        });
        return result;
    }

    @GetMapping("/deferred-fails")
    DeferredResult<String> deferredFails(String id) {
        CountDownLatch gate = meetings.begin(id).gate;
        DeferredResult<String> result = new DeferredResult<>(0L);
        Thread.startVirtualThread(() -> {
            Meeting.await(gate);
            result.setErrorResult(new IllegalStateException("Set by the handler"));
        });
        return result;
    }

    @GetMapping("/deferred-already")
    DeferredResult<String> deferredAlready(String id) {
        meetings.begin(id);
        DeferredResult<String> result = new DeferredResult<>(0L);
        result.setResult("already");
        return result;
    }

    /** Nobody gives it a result: the container ends it. */
    @GetMapping("/deferred-times-out")
    DeferredResult<String> deferredTimesOut(String id) {
        meetings.begin(id);
        return new DeferredResult<>(TIMEOUT);
    }

    @GetMapping("/future")
    CompletableFuture<String> future(String id) {
        CountDownLatch gate = meetings.begin(id).gate;
        CompletableFuture<String> future = new CompletableFuture<>();
        Thread.startVirtualThread(() -> {
            Meeting.await(gate);
            future.complete("future");
        });
        return future;
    }

    @GetMapping("/callable")
    Callable<String> callable(String id) {
        CountDownLatch gate = meetings.begin(id).gate;
        return () -> {
            Meeting.await(gate);
            return "callable";
        };
    }

    @GetMapping("/callable-throws")
    Callable<String> callableThrows(String id) {
        CountDownLatch gate = meetings.begin(id).gate;
        return () -> {
            Meeting.await(gate);
            throw new IllegalStateException("Thrown by the callable");
        };
    }

    @GetMapping("/stream")
    StreamingResponseBody stream(String id, HttpServletResponse response) {
        CountDownLatch gate = meetings.begin(id).gate;
        return out -> {
            out.write("first,".getBytes(StandardCharsets.UTF_8));
            response.flushBuffer(); // flush() does nothing on Spring 7
            Meeting.await(gate);
            out.write("last".getBytes(StandardCharsets.UTF_8));
        };
    }

    /** Ends when nobody reads. */
    @GetMapping("/stream-without-end")
    StreamingResponseBody streamWithoutEnd(String id, HttpServletResponse response) {
        CountDownLatch gate = meetings.begin(id).gate;
        return out -> {
            out.write("first,".getBytes(StandardCharsets.UTF_8));
            response.flushBuffer(); // flush() does nothing on Spring 7
            Meeting.await(gate);
            while (true) {
                out.write(new byte[1024]);
            }
        };
    }

    @GetMapping({"/sse", "/events/sse"})
    SseEmitter sse(String id) {
        CountDownLatch gate = meetings.begin(id).gate;
        SseEmitter events = new SseEmitter(0L);
        Thread.startVirtualThread(() -> {
            try {
                events.send("first");
                Meeting.await(gate);
                events.send("last");
                events.complete();
            } catch (IOException | IllegalStateException e) {
                events.completeWithError(e);
            }
        });
        return events;
    }

    /** All is sent before the handler returns: Spring MVC writes it afterwards, and ends nothing where that fails. */
    @GetMapping("/sse-at-once")
    SseEmitter sseAtOnce(String id) throws IOException {
        Meeting.await(meetings.begin(id).gate);
        SseEmitter events = new SseEmitter(0L);
        events.send("first");
        events.send("last");
        events.complete();
        return events;
    }

    /** Gives up when nobody listens, and leaves the end of the request to the container, as the Javadoc of send says. */
    @GetMapping("/sse-given-up")
    SseEmitter sseGivenUp(String id) {
        CountDownLatch gate = meetings.begin(id).gate;
        SseEmitter events = new SseEmitter(0L);
        Thread.startVirtualThread(() -> {
            try {
                events.send("first");
                Meeting.await(gate);
                events.send("last");
                events.complete();
            } catch (IOException | IllegalStateException e) {
                // see above
            }
        });
        return events;
    }

    /** Ends when nobody listens. */
    @GetMapping("/sse-without-end")
    SseEmitter sseWithoutEnd(String id) {
        CountDownLatch gate = meetings.begin(id).gate;
        SseEmitter events = new SseEmitter(0L);
        Thread.startVirtualThread(() -> {
            try {
                events.send("first");
                Meeting.await(gate);
                while (true) {
                    events.send("x".repeat(1024));
                }
            } catch (IOException | IllegalStateException e) {
                events.completeWithError(e);
            }
        });
        return events;
    }

    /** Nobody completes it: the container ends it. */
    @GetMapping("/sse-times-out")
    SseEmitter sseTimesOut(String id) throws IOException {
        meetings.begin(id);
        SseEmitter events = new SseEmitter(TIMEOUT);
        events.send("first");
        return events;
    }

    @GetMapping("/ping")
    String ping() {
        return "pong";
    }
}
