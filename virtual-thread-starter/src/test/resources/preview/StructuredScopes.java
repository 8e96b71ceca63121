import io.github.virtualthread.config.EnableVirtual;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.StructuredTaskScope;
import java.util.concurrent.StructuredTaskScope.FailedException;
import org.slf4j.MDC;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Run by {@code java --enable-preview --source 25}: structured scopes are a preview of JDK 25. */
@EnableVirtual
@Configuration(proxyBeanMethods = false)
public class StructuredScopes {

    record Page(String price, int stock) {}

    static class Prices {

        String find(long id) {
            return id + " for " + MDC.get("user");
        }

        int stock(long id) {
            return 40;
        }
    }

    static class Pages {

        private final VirtualThreads threads;
        private final Prices prices = new Prices();

        Pages(VirtualThreads threads) {
            this.threads = threads;
        }

        Page page(long id) throws InterruptedException {
            try (var scope = StructuredTaskScope.open()) {
                var price = scope.fork(threads.limited("db", () -> prices.find(id)));
                var stock = scope.fork(threads.limited("db", () -> prices.stock(id)));
                scope.join();
                return new Page(price.get(), stock.get());
            }
        }
    }

    @Bean
    LimitSettings db() {
        return LimitSettings.of("db", 1);
    }

    @Bean
    LimitSettings full() {
        return LimitSettings.of("full", 1).withQueueCapacity(0);
    }

    public static void main(String[] arguments) throws Exception {
        try (var context = new AnnotationConfigApplicationContext(StructuredScopes.class)) {
            VirtualThreads threads = context.getBean(VirtualThreads.class);
            TaskLimits limits = context.getBean(TaskLimits.class);

            MDC.put("user", "alice");
            check(new Page("7 for alice", 40), new Pages(threads).page(7));
            check("the first failure ends the wait of the others", endsTheWait(threads, limits.get("db")));
            check("QUEUE_FULL", rejected(threads));
            System.out.println("checks = 3");
        }
    }

    /** A subtask that waits for its permit leaves the queue when another one fails. */
    private static String endsTheWait(VirtualThreads threads, TaskLimit db) throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        var holding = threads.submit("db", () -> {
            held.countDown();
            release.await();
            return "";
        });
        held.await();
        try (var scope = StructuredTaskScope.open()) {
            scope.fork(threads.limited("db", () -> "never"));
            scope.fork(() -> {
                while (db.waiting() == 0) {
                    Thread.onSpinWait();
                }
                throw new IOException("down");
            });
            scope.join();
            return "joined";
        } catch (FailedException failed) {
            return failed.getCause() instanceof IOException && db.waiting() == 0
                    ? "the first failure ends the wait of the others"
                    : failed + ", waiting: " + db.waiting();
        } finally {
            release.countDown();
            holding.join();
        }
    }

    /** A rejection is the failure of the subtask. */
    private static String rejected(VirtualThreads threads) throws Exception {
        return threads.call("full", () -> {
            try (var scope = StructuredTaskScope.open()) {
                scope.fork(threads.limited("full", () -> "never"));
                scope.join();
                return "joined";
            } catch (FailedException failed) {
                return ((LimitExceededException) failed.getCause()).reason().name();
            }
        });
    }

    private static void check(Object expected, Object actual) {
        if (!expected.equals(actual)) {
            throw new AssertionError("expected " + expected + " but was " + actual);
        }
    }
}
