package com.acme.shop;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Asynchronous answers by the Servlet API alone. */
@RestController
class RawAnswersController {

    private final Meetings meetings;

    RawAnswersController(Meetings meetings) {
        this.meetings = meetings;
    }

    @GetMapping("/raw")
    void raw(String id, HttpServletRequest request) {
        CountDownLatch gate = meetings.begin(id).gate;
        AsyncContext exchange = request.startAsync();
        Thread.startVirtualThread(() -> {
            Meeting.await(gate);
            exchange.complete();
        });
    }

    @GetMapping("/raw-complete")
    void rawComplete(String id, HttpServletRequest request) {
        meetings.begin(id);
        request.startAsync().complete();
    }

    @GetMapping("/raw-throws")
    void rawThrows(String id, HttpServletRequest request) {
        meetings.begin(id);
        request.startAsync();
        throw new IllegalStateException("Thrown by the handler");
    }

    @GetMapping("/raw-times-out")
    void rawTimesOut(String id, HttpServletRequest request) {
        meetings.begin(id);
        request.startAsync().setTimeout(AnswersController.TIMEOUT);
    }

    @GetMapping("/raw-dispatched")
    void rawDispatched(String id, HttpServletRequest request) {
        meetings.begin(id);
        request.startAsync().dispatch("/raw-end");
    }

    /** The second exchange begins in the dispatch that ends the first. */
    @GetMapping("/raw-twice")
    void rawTwice(String id, HttpServletRequest request) {
        meetings.begin(id);
        request.startAsync().dispatch("/raw-again");
    }

    @GetMapping("/raw-again")
    void rawAgain(HttpServletRequest request) {
        request.startAsync().dispatch("/raw-end");
    }

    @GetMapping("/raw-end")
    String rawEnd() {
        return "end";
    }

    /** Gives up when nobody reads, and never ends the exchange. */
    @GetMapping("/raw-given-up")
    void rawGivenUp(String id, HttpServletRequest request, HttpServletResponse response) {
        CountDownLatch gate = meetings.begin(id).gate;
        AsyncContext exchange = request.startAsync();
        exchange.setTimeout(0);
        Thread.startVirtualThread(() -> {
            try {
                response.getOutputStream().print("first,");
                response.flushBuffer();
                Meeting.await(gate);
                while (true) {
                    response.getOutputStream().write(new byte[1024]);
                    response.flushBuffer();
                }
            } catch (IOException e) {
                // see above
            }
        });
    }
}
