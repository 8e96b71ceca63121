package io.github.virtualthread.sample.lab.experiment;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** One request that needs no time, and one that waits, as for a query or a remote call. */
@RestController
class Requests {

    static final int LONGEST = 5_000;

    // shown
    @GetMapping("/lab/requests/quick")
    String quick() {
        return "quick";
    }

    @GetMapping("/lab/requests/block")
    String block(@RequestParam(defaultValue = "1000") int millis) throws InterruptedException {
        Thread.sleep(bounded(millis));
        return "blocked";
    }
    // shown

    static int bounded(int millis) {
        if (millis < 0 || millis > LONGEST) {
            throw new ResponseStatusException(
                    HttpStatus.BAD_REQUEST, "millis must be from 0 to %d, was %d".formatted(LONGEST, millis));
        }
        return millis;
    }

    /** Whoever is served when the experiment is cancelled. */
    @ExceptionHandler(InterruptedException.class)
    @ResponseStatus(HttpStatus.SERVICE_UNAVAILABLE)
    void ended() {}
}
