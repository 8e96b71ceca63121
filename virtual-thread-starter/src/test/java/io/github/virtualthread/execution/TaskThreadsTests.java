package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.limit.LimitSettings;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@Timeout(300)
@Order(Integer.MAX_VALUE) // it mocks
@Tag("jdk")
class TaskThreadsTests {

    private static final InheritableThreadLocal<String> USER = new InheritableThreadLocal<>();

    @Test
    void namesAreThePrefixTheTaskAndANumber() {
        try (TestEngine test = new TestEngine()) {
            TaskSpec price = test.engine.spec("Shop.price", null);
            TaskSpec stock = test.engine.spec("Shop.stock", null);

            assertThat(Stream.of(price, price, stock)
                            .map(spec -> test.engine.submit(spec, Thread::currentThread))
                            .map(CompletableFuture::join)
                            .map(Thread.class::cast))
                    .allMatch(Thread::isVirtual)
                    .extracting(Thread::getName)
                    .containsExactly("vt-Shop.price-1", "vt-Shop.price-2", "vt-Shop.stock-1");
        }
    }

    @Test
    void noTwoThreadsAreNamedAlikeThoughManyRunAtOnce() {
        try (TestEngine test = new TestEngine()) {
            List<CompletableFuture<Object>> names = IntStream.range(0, 8_000)
                    .mapToObj(i ->
                            test.engine.submit(test.engine.spec("task" + i % 10, null), () -> Thread.currentThread()
                                    .getName()))
                    .toList();

            assertThat(names).extracting(CompletableFuture::join).doesNotHaveDuplicates();
        }
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void whatEscapesFromAThreadIsLoggedWithTheNameOfItsTask(CapturedOutput output) {
        try (TestEngine test = new TestEngine()) {
            test.engine
                    .submit(test.engine.spec("Shop.price", null), () -> {
                        Thread thread = Thread.currentThread();
                        thread.getUncaughtExceptionHandler()
                                .uncaughtException(thread, new IllegalStateException("escaped"));
                        return null;
                    })
                    .join();
        }

        assertThat(output)
                .contains("Shop.price failed on thread vt-Shop.price-1, outside its body")
                .contains("IllegalStateException: escaped");
    }

    /** Some libraries hand what nobody listens for to the handler of the current thread. */
    @Test
    void theDefaultHandlerOfTheApplicationIsToldWhatEscapes() {
        Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        CompletableFuture<Throwable> told = new CompletableFuture<>();
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> told.complete(failure));
        IllegalStateException escaped = new IllegalStateException("escaped");
        try (TestEngine test = new TestEngine()) {
            test.submit(null, () -> {
                        Thread thread = Thread.currentThread();
                        thread.getUncaughtExceptionHandler().uncaughtException(thread, escaped);
                        return null;
                    })
                    .join();
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(before);
        }

        assertThat(told).isCompletedWithValue(escaped);
    }

    @Test
    void aCallRunsThoughThereIsNoMemoryForTheNameOfItsThread() {
        TaskThreads.Named threads = mock(TaskThreads.Named.class);
        when(threads.newThread(any())).thenAnswer(call -> Thread.ofVirtual().unstarted(call.getArgument(0)));
        when(threads.nextName()).thenThrow(new OutOfMemoryError());
        try (TestEngine test = new TestEngine()) {
            TaskSpec spec = new EngineSpec("Shop.price", null, null, null, threads, test.engine.parts());

            assertThat(test.engine.submit(spec, () -> "ran").join()).isEqualTo("ran");
        }
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
                test.limits,
                ContextPropagation.none(),
                test.timer,
                new TaskThreads("vt-", application),
                CallExtensions.NONE,
                false);
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
    void whatHangsOnACallThatTimedOutSeesTheClassLoaderOfTheApplication() {
        ClassLoader application = new URLClassLoader(new URL[0], getClass().getClassLoader());
        try (TestEngine limits = new TestEngine();
                TaskEngine engine = engine(limits, application)) {
            CountDownLatch release = limits.latch();
            CompletableFuture<Thread> told = new CompletableFuture<>();
            CompletableFuture<ClassLoader> loader = new CompletableFuture<>();

            engine.execute(
                    engine.spec("Shop.price", null, Duration.ofMillis(10)),
                    () -> {
                        TestEngine.awaitStubbornly(release);
                        return null;
                    },
                    (task, failure) -> {
                        loader.complete(Thread.currentThread().getContextClassLoader());
                        told.complete(Thread.currentThread());
                    });

            assertThat(loader.join()).isSameAs(application);
            assertThat(told.join().getName()).startsWith("vt-Shop.price-");
            release.countDown();
        }
    }

    @Tag("slow")
    @Test
    void whatHangsOnACallThatAStopGaveUpSeesNothingOfWhoStops() throws Exception {
        ClassLoader application = new URLClassLoader(new URL[0], getClass().getClassLoader());
        try (TestEngine limits = new TestEngine(LimitSettings.of("db", 1));
                TaskEngine engine = engine(limits, application)) {
            CountDownLatch release = limits.latch();
            CountDownLatch running = new CountDownLatch(1);
            CompletableFuture<Object> seen = engine.submit(engine.spec("Shop.price", "db"), () -> {
                        running.countDown();
                        TestEngine.awaitStubbornly(release);
                        return null;
                    })
                    .handle((value, failure) -> List.of(
                            String.valueOf(USER.get()), Thread.currentThread().getContextClassLoader()));
            TestEngine.await(running);

            call("operator", () -> engine.stop(Duration.ZERO));

            assertThat(seen.join()).isEqualTo(List.of("null", application));
            release.countDown();
        }
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
