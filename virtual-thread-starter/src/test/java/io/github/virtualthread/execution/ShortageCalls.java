package io.github.virtualthread.execution;

import io.github.virtualthread.execution.ShortageCallers.Calls;
import io.github.virtualthread.limit.LimitSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.task.TaskDecorator;

/** The ways to make a call and to end it, while memory or threads are short. */
enum ShortageCalls {
    PLAIN(2) {
        @Override
        Calls calls(TestEngine test) {
            return submitted(test, () -> "value");
        }
    },
    FAILING(2) {
        @Override
        Calls calls(TestEngine test) {
            return submitted(test, () -> {
                throw new IllegalStateException("failed");
            });
        }
    },
    CANCELLED(2) {
        @Override
        Calls calls(TestEngine test) {
            return new Cancelled(submitted(test, ShortageCalls::untilInterrupted));
        }
    },
    EXPIRING(2) {
        @Override
        Calls calls(TestEngine test) {
            // spins: below its hand-over the JDK loses virtual threads that park for a time and find no memory when it
            // is over
            return submitted(test, ShortageCalls::spin);
        }

        @Override
        Duration maxWait() {
            return Duration.ofMillis(5);
        }
    },
    TIMING_OUT(2) {
        @Override
        Calls calls(TestEngine test) {
            TaskSpec spec = test.engine.spec("Test.slow", LIMIT, Duration.ofMillis(5));
            return () -> test.engine.submit(spec, ShortageCalls::untilInterrupted);
        }
    },
    /** By turns a task that waits for too long, one that runs for too long, and a caller that waits for too long. */
    OVERDUE(4) {
        @Override
        Calls calls(TestEngine test) {
            TaskSpec spec = test.engine.spec("Test.late", LIMIT, null, Duration.ofMillis(5));
            int[] number = {0};
            return () -> switch (number[0]++ % 3) {
                case 0 -> test.engine.submit(spec, ShortageCalls::spin);
                case 1 -> test.engine.submit(spec, ShortageCalls::untilInterrupted);
                default -> {
                    test.engine.call(spec, () -> "value");
                    yield null;
                }
            };
        }
    },
    /** On the threads of their callers, more than there are permits. */
    LIMITED(12) {
        @Override
        Calls calls(TestEngine test) {
            TaskSpec spec = test.engine.spec("Test.call", LIMIT);
            return () -> {
                test.engine.call(spec, () -> {
                    LockSupport.parkNanos(10_000);
                    return "value";
                });
                return null;
            };
        }
    },
    ALL(4) {
        @Override
        Calls calls(TestEngine test) {
            VirtualThreads threads = byHand(test);
            List<Callable<Object>> tasks = Collections.nCopies(3, () -> "value");
            return () -> {
                threads.all(LIMIT, tasks);
                return null;
            };
        }
    },
    ANY_SUCCESSFUL(4) {
        @Override
        Calls calls(TestEngine test) {
            VirtualThreads threads = byHand(test);
            List<Callable<Object>> tasks = List.of(
                    () -> {
                        throw new IllegalStateException("failed");
                    },
                    () -> "value",
                    ShortageCalls::slow);
            return () -> {
                threads.anySuccessful(LIMIT, tasks);
                return null;
            };
        }
    },
    /** A listener hears of each call, and needs memory itself. */
    LISTENED_TO(2) {
        @Override
        Calls calls(TestEngine test) {
            return submitted(test, () -> "value");
        }

        @Override
        TestEngine engine() {
            return new TestEngine(new Listener(), limit());
        }
    },
    /** A decorator is around each body, and needs memory itself. */
    DECORATED(2) {
        @Override
        Calls calls(TestEngine test) {
            return submitted(test, () -> "value");
        }

        @Override
        TestEngine engine() {
            TaskDecorator decorator = body -> () -> {
                sink = new byte[100];
                body.run();
            };
            return TestEngine.decorating(List.of(decorator), limit());
        }
    },
    /** Every other one fails, and somebody is told. */
    VOID(2) {
        @Override
        Calls calls(TestEngine test) {
            TaskSpec spec = test.engine.spec("Test.tell", LIMIT);
            boolean[] fails = {false};
            TaskBody body = () -> "value";
            TaskBody failing = () -> {
                throw new IllegalStateException("failed");
            };
            return () -> {
                fails[0] = !fails[0];
                // nobody has a future to wait for: the queue is kept short
                if (test.limit(LIMIT).waiting() > 100) {
                    LockSupport.parkNanos(1_000_000);
                }
                test.engine.execute(spec, fails[0] ? failing : body, (task, failure) -> sink = new byte[100]);
                return null;
            };
        }
    },
    /** Five keys take turns. */
    KEYED(2) {
        @Override
        Calls calls(TestEngine test) {
            TaskSpec spec = test.engine.spec("Test.task", LIMIT);
            int[] number = {0};
            return () -> test.engine.submit(test.engine.keyed(spec, "key-" + number[0]++ % 5), () -> "value");
        }
    },
    /**
     * Half of them under a limit within the other, whose bodies call under that other again; the other half the other way round, on
     * platform threads for the same reason as those below.
     */
    WITHIN(4) {
        @Override
        Calls calls(TestEngine test) {
            TaskSpec outer = test.engine.spec("Test.task", LIMIT);
            TaskSpec inner = test.engine.spec("Test.report", CROWD);
            boolean[] isInner = {false};
            return () -> {
                isInner[0] = !isInner[0];
                if (isInner[0]) {
                    return test.engine.submit(inner, () -> test.engine.call(outer, () -> "value"));
                }
                test.engine.call(outer, () -> test.engine.call(inner, () -> "value"));
                return null;
            };
        }

        @Override
        TestEngine engine() {
            return new TestEngine(limit(), LimitSettings.of(CROWD, 4).withWithin(LIMIT));
        }
    },
    /**
     * Each caller lends its permit to the tasks it waits for. On platform threads: a virtual thread that finds no memory to leave
     * its carrier keeps it for the whole wait, and the tasks may need that carrier.
     */
    LENT(4) {
        @Override
        Calls calls(TestEngine test) {
            VirtualThreads threads = byHand(test);
            TaskSpec spec = test.engine.spec("Test.call", LIMIT);
            List<Callable<Object>> tasks = Collections.nCopies(3, () -> "value");
            return () -> {
                test.engine.call(spec, () -> threads.all(LIMIT, tasks));
                return null;
            };
        }
    },
    /** All of them under one limit. */
    MIXED(1) {
        @Override
        Calls calls(TestEngine test) {
            throw new IllegalStateException("has many");
        }

        @Override
        List<Calls> callers(TestEngine test) {
            List<Calls> callers = new ArrayList<>();
            for (ShortageCalls kind : values()) {
                if (kind != MIXED && kind != DECORATED && kind != LISTENED_TO && kind != WITHIN) {
                    callers.add(kind.calls(test));
                }
            }
            return callers;
        }

        @Override
        Duration maxWait() {
            return Duration.ofMillis(50);
        }

        @Override
        TestEngine engine() {
            return new TestEngine(new Listener(), limit(), LimitSettings.of(CROWD, 1));
        }
    };

    /** Of all calls. */
    static final String LIMIT = "db";

    /** Another one, for calls that wait in great numbers. */
    static final String CROWD = "crowd";

    /** Not at a latch: where the JDK's synchronizers find no memory for a node, they hear no interrupt. */
    /** Where the one that should succeed finds no memory, this is the last. */
    private static Object slow() throws InterruptedException {
        for (long begin = System.nanoTime(); System.nanoTime() - begin < 20_000_000; ) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
        return "slow";
    }

    private static Object spin() {
        for (long begin = System.nanoTime(); System.nanoTime() - begin < 2_000_000; ) {
            Thread.onSpinWait();
        }
        return "value";
    }

    private static Object untilInterrupted() throws InterruptedException {
        while (!Thread.interrupted()) {
            LockSupport.park();
        }
        throw new InterruptedException();
    }

    private static volatile @Nullable Object sink;

    private final int callers;

    ShortageCalls(int callers) {
        this.callers = callers;
    }

    /** For one caller. */
    abstract Calls calls(TestEngine test);

    /** One for each caller. */
    List<Calls> callers(TestEngine test) {
        return Stream.generate(() -> calls(test)).limit(callers).toList();
    }

    @Nullable
    Duration maxWait() {
        return null;
    }

    LimitSettings limit() {
        return LimitSettings.of(LIMIT, 8).withMaxWait(maxWait());
    }

    TestEngine engine() {
        return new TestEngine(limit());
    }

    private static Calls submitted(TestEngine test, TaskBody body) {
        TaskSpec spec = test.engine.spec("Test.task", LIMIT);
        return () -> test.engine.submit(spec, body);
    }

    private static VirtualThreads byHand(TestEngine test) {
        return new VirtualThreads(test.engine, (name, failure) -> {});
    }

    /** Cancels each call a moment later, and tries again where an error has prevented that. */
    private static final class Cancelled implements Calls {

        private final Calls calls;
        private @Nullable Future<?> made;
        private long number;

        Cancelled(Calls calls) {
            this.calls = calls;
        }

        @Override
        public @Nullable Future<?> next() throws Throwable {
            Future<?> cancelled = made;
            if (cancelled == null) {
                cancelled = calls.next();
                made = cancelled;
            }
            if (number++ % 2 == 0) {
                LockSupport.parkNanos(100_000); // for the body to begin
            }
            if (cancelled != null) {
                cancelled.cancel(true);
            }
            made = null;
            return cancelled;
        }
    }

    private static final class Listener implements TaskListener {

        @Override
        public void submitted(TaskCall call) {
            sink = new byte[100];
        }

        @Override
        public void started(TaskCall call) {
            sink = new byte[100];
        }

        @Override
        public void finished(TaskCall call, Outcome outcome, @Nullable Throwable failure) {
            sink = new byte[100];
        }
    }
}
