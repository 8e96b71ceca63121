package io.github.virtualthread.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A driver that does what a test says, and notes what it was asked for. A call is known by its method, or {@code Type.method}. */
public final class FakeDriver {

    /** What a method does. */
    interface Answer {

        @Nullable
        Object give() throws Exception;
    }

    /** A call that ends when it is told to. An interrupt breaks the connection, as it does with a socket. */
    public static final class Held implements Answer {

        private final CountDownLatch begun = new CountDownLatch(1);
        final CompletableFuture<@Nullable Object> end = new CompletableFuture<>();

        @Override
        public @Nullable Object give() throws Exception {
            begun.countDown();
            try {
                return end.get();
            } catch (ExecutionException failed) {
                throw (Exception) failed.getCause();
            } catch (InterruptedException broken) {
                throw new SQLException("I/O error", "08006", broken);
            }
        }

        public void awaitBegin() throws InterruptedException {
            FakeDriver.await(begun);
        }
    }

    private final Map<String, Answer> answers = new ConcurrentHashMap<>();

    /** In the order of their begin. */
    final List<String> calls = new CopyOnWriteArrayList<>();

    /** Those that saw the flag of an interrupt. */
    final List<String> interrupted = new CopyOnWriteArrayList<>();

    private volatile boolean autoCommit = true;
    private volatile boolean closed;

    FakeDriver on(String method, Answer answer) {
        answers.put(method, answer);
        return this;
    }

    public Held hold(String method) {
        Held held = new Held();
        on(method, held);
        return held;
    }

    /** A cancel ends this call as drivers do; HikariCP drops a connection for this exception. */
    FakeDriver cancelEnds(Held held) {
        return on(
                "cancel", () -> held.end.completeExceptionally(new java.sql.SQLTimeoutException("canceled", "57014")));
    }

    static void await(CountDownLatch latch) throws InterruptedException {
        assertThat(latch.await(5, TimeUnit.MINUTES)).isTrue();
    }

    public DataSource dataSource() {
        return proxy(DataSource.class, "DataSource");
    }

    Connection connection() {
        return proxy(Connection.class, "Connection");
    }

    private <T> T proxy(Class<T> type, String name) {
        return type.cast(Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "hashCode" -> System.identityHashCode(proxy);
                    case "equals" -> proxy == arguments[0];
                    case "toString" -> "fake " + name;
                    default -> answer(name, method, arguments);
                }));
    }

    private @Nullable Object answer(String type, Method method, Object @Nullable [] arguments) throws Exception {
        String name = method.getName();
        switch (name) {
            case "getAutoCommit":
                return autoCommit;
            case "isClosed":
                return closed;
            case "isWrapperFor", "getFetchSize", "isValid":
                break;
            default:
                calls.add(name.equals("close") ? type + ".close" : name);
                if (Thread.currentThread().isInterrupted()) {
                    interrupted.add(name);
                }
        }
        Answer answer = answers.getOrDefault(type + "." + name, answers.get(name));
        if (answer != null) {
            return answer.give();
        }
        return switch (name) {
            case "setAutoCommit" -> {
                autoCommit = arguments != null && Boolean.TRUE.equals(arguments[0]);
                yield null;
            }
            case "abort" -> {
                closed = true;
                yield null;
            }
            case "isWrapperFor" -> false;
            case "getFetchSize" -> 10;
            case "getConnection" -> connection();
            case "createStatement" -> proxy(Statement.class, "Statement");
            case "prepareStatement" -> proxy(PreparedStatement.class, "Statement");
            case "prepareCall" -> proxy(CallableStatement.class, "Statement");
            case "executeQuery", "getResultSet", "getGeneratedKeys" -> proxy(ResultSet.class, "ResultSet");
            default -> ofType(method.getReturnType());
        };
    }

    private static @Nullable Object ofType(Class<?> type) {
        if (type == boolean.class) {
            return true;
        } else if (type == long.class) {
            return 0L;
        }
        return type == int.class ? 0 : null;
    }
}
