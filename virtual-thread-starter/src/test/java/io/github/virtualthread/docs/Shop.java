package io.github.virtualthread.docs;

import java.math.BigDecimal;

/** What the examples call. */
public final class Shop {

    private Shop() {}

    public record Price(BigDecimal amount) {}

    public record Page(Price price, int stock) {}

    public record Order(String customer) {}

    public record Customer(String id) {}

    public record Booking(long id, Customer customer) {}

    /** Stands for blocking calls of a database. */
    public static class Prices {

        public volatile Thread calledOn;

        public Price find(long id) {
            calledOn = Thread.currentThread();
            return new Price(BigDecimal.valueOf(id));
        }

        public int stock(long id) {
            return 40;
        }
    }

    /** Stands for a blocking call of a mail server. */
    public static class MailServer {

        public void deliver(Order order) {}
    }
}
