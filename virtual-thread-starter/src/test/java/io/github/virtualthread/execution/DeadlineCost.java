package io.github.virtualthread.execution;

import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.web.WebLimitFilter;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.util.ReflectionTestUtils;

/** A program of its own, for {@link DeadlineCostTests}: a JVM without a deadline, and then with the first one. */
final class DeadlineCost {

    private static final Field MAP = map();

    private DeadlineCost() {}

    public static void main(String[] arguments) throws Exception {
        ChildProgram.quiet();
        try (TestEngine test = new TestEngine(ContextPropagation.none(), LimitSettings.of("db", 10))) {
            ChildProgram.tell("maps without deadlines", calls(test));
            ChildProgram.tell("deadlines without deadlines", isUsed() ? 1 : 0);
            Deadline.call(Duration.ofMinutes(1), () -> null);
            ChildProgram.tell("maps after a deadline", calls(test));
            ChildProgram.tell("deadlines after a deadline", isUsed() ? 1 : 0);
            request(test, false);
            ChildProgram.tell("classes of scopes without scopes", scopes());
            ChildProgram.tell("threads that look without scopes", looking());
            request(test, true);
            ChildProgram.tell("classes of scopes after a scope", scopes());
            ChildProgram.tell("threads that look after a scope", looking());
        }
        System.exit(0);
    }

    private static boolean isUsed() {
        return Boolean.TRUE.equals(ReflectionTestUtils.getField(Deadline.class, "used"));
    }

    /** A request at the door, whose calls may have deadlines. */
    private static void request(TestEngine test, boolean cancelAbandoned) throws Exception {
        VirtualThreads threads = new VirtualThreads(test.engine, (name, failure) -> {});
        WebLimitFilter filter = new WebLimitFilter(threads, "db", Duration.ofMinutes(1));
        filter.setCancelAbandoned(cancelAbandoned);
        filter.doFilter(new MockHttpServletRequest(), new MockHttpServletResponse(), (request, response) -> {
            threads.submit(() -> "ran").join();
            test.engine
                    .submit(test.engine.spec("Test.late", null, null, Duration.ofMinutes(1)), () -> "ran")
                    .join();
        });
    }

    /** How many classes of this kind have been loaded. */
    private static long scopes() throws ReflectiveOperationException {
        Method find = ClassLoader.class.getDeclaredMethod("findLoadedClass", String.class);
        find.setAccessible(true);
        String web = WebLimitFilter.class.getPackageName();
        int loaded = 0;
        for (String name : List.of(
                Deadline.class.getPackageName() + ".CallScope",
                Deadline.class.getPackageName() + ".ScopedDeadline",
                web + ".ClientWatch",
                web + ".ClientWatch$Client",
                web + ".TcpTable")) {
            loaded += find.invoke(DeadlineCost.class.getClassLoader(), name) == null ? 0 : 1;
        }
        return loaded;
    }

    private static long looking() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("virtual-thread-clients"))
                .count();
    }

    private static Field map() {
        try {
            Field map = Thread.class.getDeclaredField("threadLocals");
            map.setAccessible(true);
            return map;
        } catch (ReflectiveOperationException other) {
            throw new AssertionError(other);
        }
    }

    private static int maps() throws IllegalAccessException {
        return MAP.get(Thread.currentThread()) == null ? 0 : 1;
    }

    /** Every kind of call, on a virtual thread: how many threads that ran them or made them have a map of thread-locals. */
    private static int calls(TestEngine test) throws Exception {
        VirtualThreads threads = new VirtualThreads(test.engine, (name, failure) -> {});
        int[] maps = {0};
        CountDownLatch executed = new CountDownLatch(1);
        Thread.ofVirtual()
                .start(() -> {
                    try {
                        Callable<Integer> inside = DeadlineCost::maps;
                        maps[0] += threads.submit(inside).get();
                        maps[0] += threads.submit("db", inside).get();
                        maps[0] += threads.call("db", () -> threads.call("db", inside));
                        maps[0] += threads.all("db", List.of(inside, inside)).stream()
                                .mapToInt(Integer::intValue)
                                .sum();
                        maps[0] += threads.anySuccessful("db", List.of(inside));
                        threads.execute("db", executed::countDown);
                        Deadline.remaining();
                        maps[0] += maps();
                    } catch (Exception unexpected) {
                        throw new AssertionError(unexpected);
                    }
                })
                .join();
        TestEngine.await(executed);
        return maps[0];
    }
}
