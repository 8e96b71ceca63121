package io.github.virtualthread.aop;

import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Methods and the keys that their expressions give, or the mistakes in these. */
abstract class KeyedMethods {

    static final String REPORT = Reports.class.getName() + ".report";

    static class Shop {}

    static AnnotatedMethod method(Class<?> type, String name) {
        return new AnnotatedMethods(VirtualThread.class)
                .in(type).stream()
                        .filter(each -> each.method().getName().equals(name))
                        .findFirst()
                        .orElseThrow();
    }

    static class Reports {

        @VirtualThread
        CompletableFuture<String> report(Object tenant, Object order) {
            return CompletableFuture.completedFuture("");
        }

        @Limited("mail")
        void all() {}
    }

    public record Order(Customer customer, List<Customer> others) {

        public static String fixed(Object tenant) {
            return "fixed " + tenant;
        }

        @Override
        public String toString() {
            return "Order";
        }
    }

    public static class Customer {

        public final String name;
        final long id;

        Customer(long id, String name) {
            this.id = id;
            this.name = name;
        }

        public long getId() {
            return id;
        }

        public String getName() {
            return name;
        }
    }
}
