package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.virtualthread.limit.LimitSettings;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.MDC;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.task.TaskDecorator;

@Timeout(300)
@Tag("jdk")
class TaskDecoratorTests {

    /** The one that most applications have. */
    private static final TaskDecorator MDC_COPY = body -> {
        Map<String, String> context = MDC.getCopyOfContextMap();
        return () -> {
            try {
                if (context != null) {
                    MDC.setContextMap(context);
                }
                body.run();
            } finally {
                MDC.clear();
            }
        };
    };

    private final List<String> events = new CopyOnWriteArrayList<>();

    @Test
    void theFirstDecoratorIsTheInnermost() {
        try (TestEngine test = TestEngine.decorating(List.of(recording("first"), recording("second")))) {
            test.submit(null, () -> events.add("body")).join();
        }

        assertThat(events).containsExactly("second begins", "first begins", "body", "first ends", "second ends");
    }

    @Test
    void aDecoratorSeesTheCallerWhenTheCallIsMadeNotWhenItStarts() {
        ThreadLocal<String> tenant = new ThreadLocal<>();
        TaskDecorator carrying = body -> {
            String of = tenant.get();
            return () -> {
                tenant.set(of);
                body.run();
            };
        };
        try (TestEngine test = TestEngine.decorating(List.of(carrying), LimitSettings.of("db", 1))) {
            CountDownLatch gate = test.latch();
            test.hold("db", gate);
            tenant.set("acme");
            CompletableFuture<?> waiting = test.submit("db", tenant::get);
            tenant.set("other");
            gate.countDown();

            assertThat(waiting.join()).isEqualTo("acme");
        }
    }

    @Test
    void aDecoratorRunsWithinTheContextOfTheCallerUnderThePermit() {
        AtomicReference<String> seen = new AtomicReference<>();
        AtomicInteger available = new AtomicInteger(-1);
        AtomicReference<TestEngine> engine = new AtomicReference<>();
        TaskDecorator looking = body -> () -> {
            seen.set(MDC.get("user"));
            available.set(engine.get().limit("db").available());
            body.run();
        };
        try (TestEngine test = TestEngine.decorating(List.of(looking), LimitSettings.of("db", 3))) {
            engine.set(test);
            MDC.put("user", "alice");
            test.submit("db", () -> null).join();
        }

        assertThat(seen).hasValue("alice");
        assertThat(available).hasValue(2);
    }

    @Test
    void whatADecoratorClearsIsThereAgainForContinuationsAndHandlers() throws Exception {
        try (TestEngine test = TestEngine.decorating(List.of(MDC_COPY))) {
            MDC.put("user", "alice");
            CountDownLatch gate = test.latch();
            CompletableFuture<String> continued = test.submit(null, () -> {
                        gate.await();
                        return MDC.get("user");
                    })
                    .thenApply(user -> user + " then " + MDC.get("user"));
            CompletableFuture<String> handled = new CompletableFuture<>();
            test.engine.execute(
                    test.engine.spec("Test.handled", null),
                    () -> {
                        throw new IOException("broken");
                    },
                    (task, failure) -> handled.complete(MDC.get("user")));
            gate.countDown();

            assertThat(continued.join()).isEqualTo("alice then alice");
            assertThat(handled.join()).isEqualTo("alice");
        }
    }

    @Test
    void theFailureOfABodyIsItsOwnAndNoDecoratorSeesIt() {
        IOException broken = new IOException("broken");
        try (TestEngine test = TestEngine.decorating(List.of(recording("first")))) {
            assertThatThrownBy(() -> test.submit(null, () -> {
                                throw broken;
                            })
                            .join())
                    .hasCause(broken);
        }

        assertThat(events).containsExactly("first begins", "first ends");
    }

    @Test
    void theFutureThatABodyReturnsIsAwaitedAfterTheDecorator() {
        CompletableFuture<String> returned = new CompletableFuture<>();
        TaskDecorator completing = body -> () -> {
            body.run();
            returned.complete("value");
        };
        try (TestEngine test = TestEngine.decorating(List.of(completing))) {
            assertThat(test.submit(null, () -> returned).join()).isEqualTo("value");
        }
    }

    @Test
    void aCallableOfACallerMayHaveAFutureAsItsValueStill() throws Exception {
        try (TestEngine test = TestEngine.decorating(List.of(recording("first")))) {
            VirtualThreads threads = new VirtualThreads(test.engine, (task, failure) -> {});
            CompletableFuture<String> never = new CompletableFuture<>();

            assertThat(threads.submit(() -> never).join()).isSameAs(never);
            Callable<CompletableFuture<String>> child = () -> never;
            assertThat(threads.all(List.of(child))).containsExactly(never);
        }

        assertThat(events).hasSize(4);
    }

    @Test
    void aDecoratorThatCannotDecorateFailsTheCall() {
        IllegalStateException noTenant = new IllegalStateException("no tenant");
        TaskDecorator failing = body -> {
            throw noTenant;
        };
        TaskDecorator forgetful = body -> null;

        assertThat(failureWith(recording("other"), failing)).isSameAs(noTenant);
        assertThat(failureWith(forgetful))
                .hasMessage("Task decorator %s returned null; it must return a Runnable", forgetful);
        assertThat(events).isEmpty();
    }

    @Test
    void aDecoratorThatThrowsBeforeTheBodyFailsTheCall() {
        IllegalStateException noTenant = new IllegalStateException("no tenant");
        TaskDecorator failing = body -> () -> {
            throw noTenant;
        };

        assertThat(failureWith(recording("inner"), failing)).isSameAs(noTenant);
        assertThat(events).isEmpty();
    }

    /** Of a call whose body does not run, and which gives its permit back. */
    private Throwable failureWith(TaskDecorator... decorators) {
        try (TestEngine test = TestEngine.decorating(List.of(decorators), LimitSettings.of("db", 1))) {
            Throwable failure = test.submit("db", () -> events.add("body"))
                    .handle((value, thrown) -> thrown)
                    .join();
            assertThat(test.limit("db").available()).isEqualTo(1);
            return failure;
        }
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void aDecoratorThatThrowsAfterTheBodyLeavesItsValue(CapturedOutput output) {
        TaskDecorator failing = body -> () -> {
            body.run();
            throw new IllegalStateException("cannot clean up");
        };
        try (TestEngine test = TestEngine.decorating(List.of(failing), LimitSettings.of("db", 1))) {
            assertThat(test.submit("db", () -> "value").join()).isEqualTo("value");
            assertThat(test.limit("db").available()).isEqualTo(1);
        }

        assertThat(output).contains("A task decorator has failed after Test.task", "cannot clean up");
    }

    @Test
    void aDecoratorThatDropsTheBodyFailsTheCall() {
        TaskDecorator dropping = body -> () -> {};
        try (TestEngine test = TestEngine.decorating(List.of(dropping), LimitSettings.of("db", 1))) {
            assertThatThrownBy(() -> test.submit("db", () -> "value").join())
                    .rootCause()
                    .hasMessageStartingWith("Test.task has not run: a task decorator returned without running it");
            assertThat(test.limit("db").available()).isEqualTo(1);
        }
    }

    @Test
    void aBodyRunsOnceAndNowhereElse() throws Exception {
        AtomicReference<Throwable> again = new AtomicReference<>();
        AtomicReference<Throwable> elsewhere = new AtomicReference<>();
        TaskDecorator twice = body -> () -> {
            try {
                Thread.ofVirtual()
                        .uncaughtExceptionHandler((thread, failure) -> elsewhere.set(failure))
                        .start(body)
                        .join();
            } catch (InterruptedException interrupted) {
                throw new AssertionError(interrupted);
            }
            body.run();
            try {
                body.run();
            } catch (IllegalStateException refused) {
                again.set(refused);
            }
        };
        AtomicInteger runs = new AtomicInteger();
        try (TestEngine test = TestEngine.decorating(List.of(twice))) {
            assertThat(test.submit(null, runs::incrementAndGet).join()).isEqualTo(1);
        }

        assertThat(runs).hasValue(1);
        assertThat(elsewhere.get()).hasMessageContaining("may run only once, on the thread of its task");
        assertThat(again.get()).hasMessageContaining("may run only once, on the thread of its task");
    }

    @Test
    void aBodyThatWasDroppedDoesNotRunInAContinuation() {
        AtomicReference<Runnable> kept = new AtomicReference<>();
        AtomicInteger runs = new AtomicInteger();
        CompletableFuture<Throwable> refused = new CompletableFuture<>();
        CountDownLatch gate = new CountDownLatch(1);
        TaskDecorator dropping = body -> {
            kept.set(body);
            return () -> TestEngine.await(gate);
        };
        try (TestEngine test = TestEngine.decorating(List.of(dropping), LimitSettings.of("db", 1))) {
            CompletableFuture<?> dropped = test.submit("db", runs::incrementAndGet);
            dropped.whenComplete((value, failure) ->
                    refused.complete(catchThrowable(() -> kept.get().run())));
            gate.countDown(); // not earlier: the continuation is to run on the thread of the task

            assertThat(refused.orTimeout(2, TimeUnit.MINUTES).join())
                    .hasMessageContaining("may run only once, on the thread of its task");
            assertThat(runs).hasValue(0);
        }
    }

    @Test
    void aCancelInterruptsTheBodyWithinItsDecorators() {
        try (TestEngine test = TestEngine.decorating(List.of(recording("first")))) {
            CountDownLatch running = test.latch();
            CountDownLatch never = test.latch();
            CompletableFuture<?> future = test.submit(null, () -> {
                running.countDown();
                try {
                    never.await();
                } catch (InterruptedException interrupted) {
                    events.add("interrupted");
                }
                return null;
            });
            TestEngine.await(running);
            future.cancel(true);
            TestEngine.awaitIdle(test);
        }

        assertThat(events).containsExactly("first begins", "interrupted", "first ends");
    }

    @Test
    void aCallOnItsCallersOwnThreadIsNotDecorated() throws Throwable {
        try (TestEngine test = TestEngine.decorating(List.of(recording("first")), LimitSettings.of("db", 1))) {
            Object value = test.engine.call(test.engine.spec("Test.call", "db"), () -> "value");

            assertThat(value).isEqualTo("value");
        }

        assertThat(events).isEmpty();
    }

    private TaskDecorator recording(String name) {
        return body -> () -> {
            events.add(name + " begins");
            body.run();
            events.add(name + " ends");
        };
    }
}
