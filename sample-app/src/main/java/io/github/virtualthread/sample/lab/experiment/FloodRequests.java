package io.github.virtualthread.sample.lab.experiment;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.springframework.core.task.TaskRejectedException;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Web requests that call the slow partner, and wait for it or not: those of the experiment, and any from outside. */
@RestController
class FloodRequests {

    private final FloodTasks tasks;
    private final FloodPartner partner;
    private final AtomicReference<Flood> now = new AtomicReference<>(Flood.fromOutside());

    FloodRequests(FloodTasks tasks, FloodPartner partner) {
        this.tasks = tasks;
        this.partner = partner;
    }

    // shown
    @GetMapping("/lab/flood/pool")
    String pool(@RequestParam(defaultValue = "0") int request) {
        Flood flood = accept(request);
        try {
            tasks.pool(flood, request);
        } catch (TaskRejectedException full) {
            flood.reject(); // as if it were only logged: the client hears nothing of it
        }
        return "accepted";
    }

    @GetMapping("/lab/flood/queue")
    String queue(@RequestParam(defaultValue = "0") int request) {
        tasks.queue(accept(request), request);
        return "accepted";
    }

    @GetMapping("/lab/flood/virtual")
    String virtual(@RequestParam(defaultValue = "0") int request) {
        Flood flood = accept(request);
        flood.keep(tasks.virtual(flood, request));
        return "accepted";
    }

    @GetMapping("/lab/flood/virtual-waits")
    CompletableFuture<String> virtualWaits(@RequestParam(defaultValue = "0") int request) {
        Flood flood = accept(request);
        CompletableFuture<Void> call = tasks.virtual(flood, request);
        flood.keep(call);
        return call.thenApply(nothing -> "done");
    }

    @GetMapping("/lab/flood/web-client")
    CompletableFuture<String> webClient(@RequestParam(defaultValue = "0") int request) {
        Flood flood = accept(request);
        CompletableFuture<Void> call = partner.call(flood.partner()).toFuture();
        flood.keep(call);
        return call.thenApply(nothing -> {
            flood.partnerAnswered(request);
            return "done";
        });
    }

    @GetMapping("/lab/flood/sync")
    String sync(@RequestParam(defaultValue = "0") int request) {
        tasks.sync(accept(request), request);
        return "done";
    }
    // shown

    /** What became of the requests since the last experiment, or in the one that runs. */
    @GetMapping("/lab/flood")
    Flood.Counts counts() {
        return now.get().counts();
    }

    /** From now on requests belong to that flood. */
    void belongTo(Flood flood) {
        now.set(flood);
    }

    private Flood accept(int request) {
        Flood flood = now.get();
        if (request < 0 || request >= flood.requests()) {
            throw new ResponseStatusException(
                    HttpStatus.BAD_REQUEST,
                    "request must be from 0 to %d, was %d".formatted(flood.requests() - 1, request));
        }
        flood.accept();
        return flood;
    }
}
