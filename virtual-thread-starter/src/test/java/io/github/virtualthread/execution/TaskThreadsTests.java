package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.limit.LimitSettings;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class TaskThreadsTests {

    private static final InheritableThreadLocal<String> USER = new InheritableThreadLocal<>();

    @Test
    void namesAreThePrefixTheTaskAndANumber() {
        TaskThreads threads = new TaskThreads("vt-", getClass().getClassLoader());

        Thread first = threads.named("Shop.price").newThread(() -> {});
        Thread second = threads.named("Shop.price").newThread(() -> {});
        Thread other = threads.named("Shop.stock").newThread(() -> {});

        assertThat(List.of(first, second, other)).allMatch(Thread::isVirtual);
        assertThat(List.of(first.getName(), second.getName(), other.getName()))
                .containsExactly("vt-Shop.price-1", "vt-Shop.price-2", "vt-Shop.stock-1");
    }

    @Test
    void noTwoThreadsAreNamedAlikeThoughManyMakeThem() throws Exception {
        TaskThreads threads = new TaskThreads("vt-", getClass().getClassLoader());
        List<String> names = Collections.synchronizedList(new ArrayList<>());
        CountDownLatch start = new CountDownLatch(1);
        List<Thread> makers = IntStream.range(0, 8)
                .mapToObj(maker -> Thread.ofPlatform().start(() -> {
                    TestEngine.await(start);
                    for (int i = 0; i < 1_000; i++) {
                        ThreadFactory factory = threads.named("task" + i % 10);
                        names.add(factory.newThread(() -> {}).getName());
                    }
                }))
                .toList();

        start.countDown();
        for (Thread maker : makers) {
            maker.join();
        }

        assertThat(names).doesNotHaveDuplicates().hasSize(8_000);
    }

    @Test
    void specsOfOneNameShareTheirNumbers() {
        try (TestEngine test = new TestEngine()) {
            TaskBody name = () -> Thread.currentThread().getName();
            List<Object> names = IntStream.range(0, 3)
                    .mapToObj(i -> test.engine
                            .submit(test.engine.spec("a", null), name)
                            .join())
                    .collect(Collectors.toList());

            assertThat(names).containsExactly("vt-a-1", "vt-a-2", "vt-a-3");
        }
    }

    /** The thread of bob's call is made by whoever frees the permit, which is alice's. */
    @Test
    void aQueuedCallSeesNeitherUserNorClassLoaderOfTheOneBeforeIt() throws Exception {
        ClassLoader application = new URLClassLoader(new URL[0], getClass().getClassLoader());
        CountDownLatch release = new CountDownLatch(1);
        try (TestEngine limits = new TestEngine(LimitSettings.of("db", 1));
                TaskEngine engine = engine(limits, application)) {
            TaskSpec spec = engine.spec("Shop.price", "db");
            CompletableFuture<Object> alice = new CompletableFuture<>();
            CompletableFuture<Object> bob = new CompletableFuture<>();
            call("alice", () -> submit(engine, spec, release, alice));
            call("bob", () -> submit(engine, spec, release, bob));
            release.countDown();

            assertThat(alice.join()).isEqualTo(List.of("null", application));
            assertThat(bob.join()).isEqualTo(List.of("null", application));
        }
    }

    private static TaskEngine engine(TestEngine test, ClassLoader application) {
        return new TaskEngine(
                test.limits, ContextPropagation.none(), test.timer, "vt-", application, List::of, List::of, false);
    }

    private static void call(String user, Runnable call) throws InterruptedException {
        Thread caller = Thread.ofPlatform().unstarted(() -> {
            USER.set(user);
            call.run();
        });
        caller.setContextClassLoader(new URLClassLoader(user, new URL[0], null));
        caller.start();
        caller.join();
    }

    private static void submit(
            TaskEngine engine, TaskSpec spec, CountDownLatch release, CompletableFuture<Object> seen) {
        engine.submit(spec, () -> {
                    String user = String.valueOf(USER.get());
                    USER.set("of the body");
                    release.await();
                    return List.of(user, Thread.currentThread().getContextClassLoader());
                })
                .thenAccept(seen::complete);
    }

    @Test
    void noThreadIsThereBeforeTheFirstCall() {
        List<Thread> before = platformThreads();
        try (TestEngine test = new TestEngine(LimitSettings.of("db", 1).withMaxWait(TestEngine.ENOUGH))) {
            test.engine.spec("a", "db");

            assertThat(platformThreads()).isSubsetOf(before);
            assertThat(test.submit("db", () -> "accepted before any start").join())
                    .isEqualTo("accepted before any start");
        }
    }

    /** Without those that the JDK may start at any moment, such as carriers. */
    private static List<Thread> platformThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !thread.getClass().getName().startsWith("jdk.internal."))
                .toList();
    }
}
