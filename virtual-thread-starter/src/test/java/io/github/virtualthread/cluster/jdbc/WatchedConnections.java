package io.github.virtualthread.cluster.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** Lends one connection, again and again, and sees what is done with it. Not for several threads. */
final class WatchedConnections {

    /** What a test does in the middle of an exchange. */
    interface Step {
        /**
         * Before a statement, and before the connection is given back.
         *
         * @param done number of statements of this exchange until now
         * @param next first word of the statement, or {@code close}
         */
        void run(int done, String next) throws Exception;
    }

    private final Connection connection;
    private final List<String> round = new ArrayList<>();
    private int lent;
    private int closed;
    private int done;
    private Step between = (done, next) -> {};

    WatchedConnections(Connection connection) {
        this.connection = connection;
    }

    DataSource dataSource() {
        return proxy(DataSource.class, (proxy, method, arguments) -> {
            if (!method.getName().equals("getConnection")) {
                throw new UnsupportedOperationException(method.getName());
            }
            between.run(0, "getConnection");
            lent++;
            done = 0;
            return proxy(Connection.class, this::onConnection);
        });
    }

    /** Done from now on wherever this JVM could stand still. */
    void between(Step step) {
        between = step;
    }

    /** Statements, commits and rollbacks since the last call. */
    List<String> seen() {
        List<String> seen = List.copyOf(round);
        round.clear();
        return seen;
    }

    int lent() {
        return lent;
    }

    int closed() {
        return closed;
    }

    private Object onConnection(Object proxy, Method method, Object[] arguments) throws Throwable {
        switch (method.getName()) {
            case "close" -> {
                between.run(done, "close");
                closed++;
                return null;
            }
            case "commit", "rollback" -> round.add(method.getName());
            case "prepareStatement" -> {
                String sql = (String) arguments[0];
                PreparedStatement statement = connection.prepareStatement(sql);
                return proxy(
                        PreparedStatement.class, (self, called, with) -> onStatement(statement, sql, called, with));
            }
            case "createStatement" -> {
                Statement statement = connection.createStatement();
                return proxy(
                        Statement.class,
                        (self, called, with) ->
                                onStatement(statement, with == null ? "" : String.valueOf(with[0]), called, with));
            }
            default -> {
                // not counted
            }
        }
        return invoke(connection, method, arguments);
    }

    private Object onStatement(Statement statement, String sql, Method method, Object[] arguments) throws Throwable {
        if (!method.getName().startsWith("execute")) {
            return invoke(statement, method, arguments);
        }
        String word = sql.split(" ")[0];
        between.run(done, word);
        done++;
        Object result = invoke(statement, method, arguments);
        round.add(word);
        return result;
    }

    private static Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(
                Proxy.newProxyInstance(WatchedConnections.class.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
