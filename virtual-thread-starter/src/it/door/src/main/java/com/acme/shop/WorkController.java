package com.acme.shop;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/** Requests that make calls, in every kind of controller. */
@RestController
class WorkController {

    private final Work work;

    WorkController(Work work) {
        this.work = work;
    }

    @GetMapping({"/work/future", "/events/work"})
    CompletableFuture<String> future(String id) throws InterruptedException {
        return work.future(id);
    }

    @GetMapping("/work/join")
    String join(String id) throws InterruptedException {
        return work.future(id).join();
    }

    /** The mail is that of another meeting. */
    @GetMapping("/work/mail")
    CompletableFuture<String> mail(String id) throws InterruptedException {
        work.mail("mail-" + id);
        return work.future(id);
    }

    /** Nobody looks at the future. */
    @GetMapping("/work/unseen")
    String unseen(String id) throws InterruptedException {
        CompletableFuture<String> unseen = work.future(id);
        return "unseen " + !unseen.isDone();
    }

    @GetMapping("/work/sse")
    SseEmitter sse(String id) throws IOException, InterruptedException {
        SseEmitter events = new SseEmitter(0L);
        events.send("first");
        work.future(id).whenComplete((value, failure) -> {
            if (failure == null) {
                events.complete();
            } else {
                events.completeWithError(failure);
            }
        });
        return events;
    }

    /** The container ends it before the call ends. */
    @GetMapping("/work/times-out")
    DeferredResult<String> timesOut(String id) throws InterruptedException {
        DeferredResult<String> result = new DeferredResult<>(AnswersController.TIMEOUT);
        work.future(id).thenAccept(result::setResult);
        return result;
    }

    @GetMapping("/timed/future")
    CompletableFuture<String> timed(String id, long milliseconds) throws InterruptedException {
        return work.timed(id, Duration.ofMillis(milliseconds));
    }

    @GetMapping("/timed/join")
    String timedJoin(String id, long milliseconds) throws InterruptedException {
        return work.timed(id, Duration.ofMillis(milliseconds)).join();
    }

    @GetMapping("/query/future")
    CompletableFuture<String> query(String id) {
        return work.query(id);
    }

    @GetMapping("/query/join")
    String queryJoin(String id) {
        return work.query(id).join();
    }

    @GetMapping("/order")
    CompletableFuture<String> order(String id) {
        return work.order(id);
    }
}
