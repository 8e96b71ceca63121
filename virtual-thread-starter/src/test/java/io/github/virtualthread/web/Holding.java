package io.github.virtualthread.web;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** Requests that hold their permit until the test lets them end. */
@RestController
class Holding {

    private final List<String> begun = new CopyOnWriteArrayList<>();
    private final Map<String, CountDownLatch> ends = new ConcurrentHashMap<>();

    @GetMapping("/hold/{name}")
    String hold(@PathVariable String name) throws InterruptedException {
        begun.add(name);
        assertThat(end(name).await(2, MINUTES)).isTrue();
        return name;
    }

    @GetMapping("/plain")
    String plain() {
        return "plain";
    }

    private CountDownLatch end(String name) {
        return ends.computeIfAbsent(name, any -> new CountDownLatch(1));
    }

    void release(String... names) {
        for (String name : names) {
            end(name).countDown();
        }
    }

    void awaitBegun(String... names) {
        await().atMost(Duration.ofMinutes(2))
                .untilAsserted(() -> assertThat(begun).contains(names));
    }

    /** In the order in which they got their permits. */
    List<String> begun() {
        return begun;
    }
}
