package io.github.virtualthread.docs.statements;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
import org.springframework.jdbc.core.JdbcTemplate;

class NoteTheFailure {

    interface Courier {

        CompletableFuture<Void> deliver(long order);
    }

    static class Shop {

        private final JdbcTemplate jdbc;

        Shop(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        // example: NoteTheFailure
        @VirtualThread("db")
        public CompletableFuture<Void> noteFailure(long order) {
            jdbc.update("update orders set state = 'failed' where id = ?", order);
            return completedFuture(null);
        }
        // end
    }

    static class Orders {

        private final Courier courier;
        private final Shop shop;

        Orders(Courier courier, Shop shop) {
            this.courier = courier;
            this.shop = shop;
        }

        // example: OutsideOfTheCall
        public CompletableFuture<Void> deliver(long order) {
            return courier.deliver(order).exceptionallyCompose(failure -> shop.noteFailure(order));
        }
        // end
    }
}
