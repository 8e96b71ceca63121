package com.acme.shop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import jakarta.annotation.PreDestroy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.cloud.context.config.annotation.RefreshScope;
import org.springframework.cloud.context.refresh.ContextRefresher;
import org.springframework.context.ConfigurableApplicationContext;

/** The file of properties changes while the application runs, and Spring Cloud reads it again. */
@Timeout(300)
class RefreshTests {

    @TempDir
    static Path directory;

    private final Path file = directory.resolve("shop.properties");
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch end = new CountDownLatch(1);
    private ConfigurableApplicationContext context;
    private Prices prices;

    @BeforeEach
    void start() throws IOException {
        write("virtual-thread.limits.one.permits=1", "shop.discount=5 %");
        context = new SpringApplicationBuilder(ShopApplication.class, Offers.class)
                .web(WebApplicationType.NONE)
                .run("--spring.config.import=" + file.toUri());
        prices = context.getBean(Prices.class);
    }

    @AfterEach
    void close() {
        end.countDown();
        context.close();
    }

    @Test
    void aCallThatWaitsBeginsWhenTheLimitGrows() throws Exception {
        CompletableFuture<String> running = prices.hold(begun, end);
        CompletableFuture<String> waiting = prices.ofTea();
        assertThat(begun.await(120, SECONDS)).isTrue();
        assertThat(waiting).isNotDone();

        refresh("virtual-thread.limits.one.permits=2", "virtual-thread.limits.mail.permits=3");

        assertThat(waiting).succeedsWithin(120, SECONDS).isEqualTo("7 EUR");
        assertThat(running).isNotDone();
        assertThat(limit("one").permits()).isEqualTo(2);
        assertThat(limit("mail").permits()).isEqualTo(3);
    }

    @Test
    void aNumberThatIsWrongChangesNothing() throws Exception {
        refresh("virtual-thread.limits.one.permits=0", "virtual-thread.limits.one.queue-capacity=7");

        assertThat(limit("one").permits()).isEqualTo(1);
        assertThat(limit("one").queueCapacity()).isEqualTo(Integer.MAX_VALUE);
        assertThat(prices.ofTea()).succeedsWithin(120, SECONDS).isEqualTo("7 EUR");

        refresh("virtual-thread.limits.one.permits=4");

        assertThat(limit("one").permits()).isEqualTo(4);
    }

    @Test
    void callsOfABeanThatIsReplacedEndOnTheOldObject() throws Exception {
        limit("one").resize(2);
        Offers offers = context.getBean(Offers.class);
        CompletableFuture<String> running = offers.discount(begun, end);
        assertThat(begun.await(120, SECONDS)).isTrue();
        assertThat(limit("one").available()).isEqualTo(1); // one permit, although the scope has a proxy of its own

        refresh("virtual-thread.limits.one.permits=1", "shop.discount=9 %");

        assertThat(offers.discount(new CountDownLatch(1), new CountDownLatch(0)))
                .succeedsWithin(120, SECONDS)
                .isEqualTo("9 % on a virtual thread");
        end.countDown();
        assertThat(running).succeedsWithin(120, SECONDS).isEqualTo("5 % on a virtual thread, destroyed");
        assertThat(limit("one").permits()).as("resized by hand").isEqualTo(2);
    }

    private TaskLimit limit(String name) {
        return context.getBean(TaskLimits.class).get(name);
    }

    private void refresh(String... lines) throws IOException {
        write(lines);
        assertThat(context.getBean(ContextRefresher.class).refresh()).isNotEmpty();
    }

    private void write(String... lines) throws IOException {
        Files.write(file, List.of(lines));
    }

    @RefreshScope
    static class Offers {

        private final String discount;
        private volatile boolean destroyed;

        Offers(@Value("${shop.discount}") String discount) {
            this.discount = discount;
        }

        @VirtualThread("one")
        public CompletableFuture<String> discount(CountDownLatch begun, CountDownLatch end)
                throws InterruptedException {
            begun.countDown();
            String thread = Thread.currentThread().isVirtual() ? "a virtual thread" : "another thread";
            return completedFuture(
                    end.await(120, SECONDS)
                            ? discount + " on " + thread + (destroyed ? ", destroyed" : "")
                            : "forgotten");
        }

        @PreDestroy
        void destroy() {
            destroyed = true;
        }
    }
}
