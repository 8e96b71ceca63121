package io.github.virtualthread.web;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.execution.Deadline;
import io.github.virtualthread.execution.LiveCall;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.TaskLimit.Occupation;
import io.github.virtualthread.limit.TaskLimits;
import jakarta.servlet.http.HttpServletRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.WebAsyncTask;

/** Deadline and permit of a request that goes on with another thread, in an application on Tomcat. */
@Timeout(300)
class DoorDispatchTests {

    @Test
    void bothDispatchesHaveTheDeadlineAndThePermit() {
        DoorApplication.run(
                Dispatched.class,
                it -> {
                    Dispatched dispatched = it.bean(Dispatched.class);

                    assertThat(it.get("/begin").body()).isEqualTo("end");

                    assertThat(dispatched.left.get(0)).isPositive().isLessThanOrEqualTo(Duration.ofMinutes(5));
                    assertThat(dispatched.left.get(1)).isPositive().isLessThan(dispatched.left.get(0));
                    assertThat(dispatched.inUse).containsExactly(1, 1);
                    it.awaitFree();
                    assertThat(it.limit().completed()).isOne();
                },
                "limits.web.permits=1",
                "web.deadline=5m");
    }

    @Tag("slow")
    @Test
    void afterTheDeadlineASecondDispatchStillAnswers() {
        DoorApplication.run(
                Dispatched.class,
                it -> {
                    Dispatched dispatched = it.bean(Dispatched.class);

                    assertThat(it.get("/late").body()).isEqualTo("end");

                    assertThat(dispatched.left).containsExactly(Duration.ZERO);
                    it.awaitFree();
                },
                "web.deadline=1s");
    }

    @Test
    void aDeadlineNeedsNoLimit() {
        DoorApplication.run(
                Dispatched.class,
                it -> {
                    Dispatched dispatched = it.bean(Dispatched.class);

                    assertThat(it.get("/begin").body()).isEqualTo("end");

                    assertThat(dispatched.left).hasSize(2).allMatch(Duration::isPositive);
                    assertThat(it.limit().completed()).isEqualTo(2); // calls of the controller
                },
                "web.limit=none",
                "web.deadline=5m");
    }

    @Test
    @Tag("slow")
    void aRequestDoesNotWaitLongerThanItsDeadline() {
        DoorApplication.run(
                Holding.class,
                it -> {
                    try (Occupation full = it.limit().occupy()) {
                        assertThat(it.get("/plain").statusCode()).isEqualTo(503);
                    }
                    it.awaitFree();
                },
                "web.deadline=2s");
    }

    @Test
    void aRequestWithoutAThreadIsShownAsRunningAndWithOneOnce() {
        DoorApplication.run(Dispatched.class, it -> {
            Dispatched dispatched = it.bean(Dispatched.class);
            TaskEngine engine = it.bean(TaskEngine.class);

            CompletableFuture<HttpResponse<String>> answer = it.ask("/away");
            await().atMost(Duration.ofMinutes(2)).until(() -> engine.liveCalls().running(it.limit()).stream()
                    .anyMatch(call -> call.thread() == null));

            List<LiveCall> away = engine.liveCalls().running(it.limit());
            assertThat(away).singleElement().satisfies(call -> {
                assertThat(call.call().isStarted()).isTrue();
                assertThat(call.call().spec().name()).isEqualTo("web-request");
            });
            dispatched.goOn.countDown();
            assertThat(dispatched.back.await(2, MINUTES)).isTrue();
            assertThat(engine.liveCalls().running(it.limit()))
                    .singleElement()
                    .satisfies(call -> assertThat(call.thread()).isNotNull());
            dispatched.end.countDown();
            assertThat(answer.get(2, MINUTES).body()).isEqualTo("end");
            it.awaitFree();
            await().atMost(Duration.ofMinutes(2))
                    .until(() -> engine.liveCalls().running(it.limit()).isEmpty());
        });
    }

    @Test
    void aTaskThatTimesOutIsAnsweredByItsCallback() {
        DoorApplication.run(Dispatched.class, it -> {
            assertThat(it.get("/task").statusCode()).isEqualTo(200);
            it.awaitFree();
            assertThat(it.limit().completed()).isOne();
        });
    }

    @RestController
    static class Dispatched {

        final List<Duration> left = new CopyOnWriteArrayList<>();
        final List<Integer> inUse = new CopyOnWriteArrayList<>();
        final CountDownLatch goOn = new CountDownLatch(1);
        final CountDownLatch back = new CountDownLatch(1);
        final CountDownLatch end = new CountDownLatch(1);
        private final VirtualThreads virtualThreads;
        private final TaskLimits limits;

        Dispatched(VirtualThreads virtualThreads, TaskLimits limits) {
            this.virtualThreads = virtualThreads;
            this.limits = limits;
        }

        @GetMapping("/begin")
        void begin(HttpServletRequest request) throws Exception {
            look();
            request.startAsync().dispatch("/end");
        }

        @GetMapping("/end")
        String end() throws Exception {
            look();
            return "end";
        }

        /** With one permit this would wait for ever, if the thread did not hold that of the request. */
        private void look() throws Exception {
            Deadline.remaining().ifPresent(left::add);
            inUse.add(virtualThreads.call("web", () -> limits.get("web").inUse()));
        }

        @GetMapping("/late")
        void late(HttpServletRequest request) {
            while (!Deadline.remaining().orElseThrow().isZero()) {
                Thread.onSpinWait();
            }
            request.startAsync().dispatch("/over");
        }

        @GetMapping("/over")
        String over() {
            left.add(Deadline.remaining().orElseThrow());
            return "end";
        }

        @GetMapping("/away")
        void away(HttpServletRequest request) {
            var exchange = request.startAsync();
            Thread.startVirtualThread(() -> {
                awaitLatch(goOn);
                exchange.dispatch("/back");
            });
        }

        @GetMapping("/back")
        String back() {
            back.countDown();
            awaitLatch(end);
            return "end";
        }

        /** Spring interrupts it when it has run for too long, which it ignores. */
        @GetMapping("/task")
        WebAsyncTask<String> task() {
            Semaphore late = new Semaphore(0);
            WebAsyncTask<String> task = new WebAsyncTask<>(1L, () -> {
                late.acquireUninterruptibly();
                return "done";
            });
            task.onTimeout(() -> {
                late.release();
                return "late";
            });
            return task;
        }

        private static void awaitLatch(CountDownLatch latch) {
            try {
                assertThat(latch.await(2, MINUTES)).isTrue();
            } catch (InterruptedException interruption) {
                throw new IllegalStateException(interruption);
            }
        }
    }
}
