package io.github.virtualthread.web;

import io.github.virtualthread.Limited;
import io.github.virtualthread.limit.TaskLimits;
import java.util.concurrent.CompletableFuture;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** Requests whose calls are rejected or end too late, in each way that a controller may write. */
@RestController
class Shop {

    private final Prices prices;
    private final TaskLimits limits;

    Shop(Prices prices, TaskLimits limits) {
        this.prices = prices;
        this.limits = limits;
    }

    @GetMapping("/price")
    CompletableFuture<String> price() {
        return prices.find().thenApply(String::strip);
    }

    @Limited("db")
    @GetMapping("/limited")
    String limited() {
        return limits.get("db").available() + " permits left";
    }

    @GetMapping("/late/future")
    CompletableFuture<String> late() {
        return prices.late().thenApply(String::strip);
    }

    @GetMapping("/late/get")
    String lateGet() throws Exception {
        return prices.late().get();
    }

    @GetMapping("/late/join")
    String lateJoin() {
        return late().join();
    }

    @GetMapping("/endless/future")
    CompletableFuture<String> endless() throws Exception {
        return prices.endless().thenApply(String::strip);
    }

    @GetMapping("/endless/get")
    String endlessGet() throws Exception {
        return prices.endless().get();
    }

    @GetMapping("/endless/join")
    String endlessJoin() throws Exception {
        return prices.endless().join();
    }

    @GetMapping("/throws/{rejected}")
    String failing(@PathVariable Rejected rejected) throws Exception {
        throw rejected.failure;
    }

    @GetMapping("/future/{rejected}")
    CompletableFuture<String> future(@PathVariable Rejected rejected) {
        return CompletableFuture.<String>failedFuture(rejected.failure).thenApply(String::strip);
    }
}
