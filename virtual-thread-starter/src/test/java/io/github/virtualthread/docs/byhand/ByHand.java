package io.github.virtualthread.docs.byhand;

import io.github.virtualthread.docs.Shop.Order;
import io.github.virtualthread.docs.Shop.Page;
import io.github.virtualthread.docs.Shop.Price;
import io.github.virtualthread.docs.Shop.Prices;
import io.github.virtualthread.execution.VirtualThreads;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.springframework.scheduling.annotation.Async;
import org.springframework.stereotype.Service;

// example: ByHand
@Service
class ByHand {

    private final VirtualThreads threads;
    private final Prices prices;

    ByHand(VirtualThreads threads, Prices prices) {
        this.threads = threads;
        this.prices = prices;
    }

    CompletableFuture<Price> later(long id) {
        return threads.submit("db", () -> prices.find(id)); // on a virtual thread, under the limit db
    }

    Price now(long id) throws Exception {
        return threads.call("db", () -> prices.find(id)); // on this thread, under the same limit
    }
    // end

    // example: ByHandAll
    List<Price> pricesOf(List<Long> ids) throws Exception {
        List<Callable<Price>> finds =
                ids.stream().<Callable<Price>>map(id -> () -> prices.find(id)).toList();
        return threads.all("db", finds);
    }
    // end

    // example: ByHandAny
    Price fastest(Callable<Price> partner, Callable<Price> otherPartner) throws Exception {
        return threads.anySuccessful(List.of(partner, otherPartner));
    }
    // end

    // example: ByHandSupplyAsync
    CompletableFuture<Page> page(long id) {
        var db = threads.executor("db");
        return CompletableFuture.supplyAsync(() -> prices.find(id), db)
                .thenCombine(CompletableFuture.supplyAsync(() -> prices.stock(id), db), Page::new);
    }
    // end

    /** Has only an annotation of Spring. */
    static class Mailer {

        volatile Thread calledOn;

        @Async
        void send(Order order) {
            calledOn = Thread.currentThread();
        }
    }
}
