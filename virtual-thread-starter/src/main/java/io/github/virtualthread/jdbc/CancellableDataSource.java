package io.github.virtualthread.jdbc;

import io.github.virtualthread.jdbc.ConnectionGate.Kind;
import io.github.virtualthread.jdbc.ConnectionGate.Times;
import java.io.PrintWriter;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Array;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.ParameterMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLClientInfoException;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.sql.Types;
import java.sql.Wrapper;
import java.util.BitSet;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.util.function.SingletonSupplier;

/**
 * Connections whose statements are cancelled when the body that runs them is stopped: by a timeout, a deadline, a cancel or the
 * end of the application. Otherwise the interrupt would break the connection, and the database would go on with the statement.
 *
 * <p>It stands below a pool and never before it:
 *
 * <pre>{@code
 * HikariDataSource pool = new HikariDataSource();
 * pool.setDataSource(new CancellableDataSource(() -> driverDataSource));
 * }</pre>
 *
 * <p>With Spring Boot, {@code virtual-thread.jdbc.cancel-statements=true} does so for each pool of HikariCP.
 */
public final class CancellableDataSource implements DataSource {

    private final Supplier<DataSource> target;
    private final Times times;

    /**
     * Creates a data source for the connections of another one.
     *
     * @param target makes the other one, once, when the first connection is needed
     */
    public CancellableDataSource(Supplier<? extends DataSource> target) {
        this(target, Times.USUAL);
    }

    CancellableDataSource(Supplier<? extends DataSource> target, Times times) {
        this.target = SingletonSupplier.of(target::get);
        this.times = times;
    }

    @Override
    public Connection getConnection() throws SQLException {
        return guarded(target.get().getConnection());
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        return guarded(target.get().getConnection(user, password));
    }

    private Connection guarded(Connection raw) {
        return proxy(Connection.class, new OfConnection(raw, new ConnectionGate(raw, times)));
    }

    private static <T> T proxy(Class<T> type, Handler handler) {
        return type.cast(
                Proxy.newProxyInstance(CancellableDataSource.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    @Override
    public @Nullable PrintWriter getLogWriter() throws SQLException {
        return target.get().getLogWriter();
    }

    @Override
    public void setLogWriter(@Nullable PrintWriter out) throws SQLException {
        target.get().setLogWriter(out);
    }

    @Override
    public void setLoginTimeout(int seconds) throws SQLException {
        target.get().setLoginTimeout(seconds);
    }

    @Override
    public int getLoginTimeout() throws SQLException {
        return target.get().getLoginTimeout();
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        return target.get().getParentLogger();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        if (type.isInstance(this)) {
            return type.cast(this);
        }
        DataSource raw = target.get();
        return type.isInstance(raw) ? type.cast(raw) : raw.unwrap(type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) throws SQLException {
        return type.isInstance(this)
                || type.isInstance(target.get())
                || target.get().isWrapperFor(type);
    }

    private abstract static class Handler implements InvocationHandler {

        private final Wrapper raw;

        Handler(Wrapper raw) {
            this.raw = raw;
        }

        @Override
        @SuppressWarnings("ReferenceEquality") // a proxy equals itself
        public final @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] args)
                throws Throwable {
            return switch (method.getName()) {
                case "equals" -> args != null && proxy == args[0];
                case "hashCode" -> System.identityHashCode(proxy);
                case "toString" -> raw.toString();
                case "unwrap" -> {
                    Object known = args == null ? null : known(proxy, args[0]);
                    yield known == null ? direct(method, args) : known;
                }
                case "isWrapperFor" ->
                    (args != null && known(proxy, args[0]) != null) || Boolean.TRUE.equals(direct(method, args));
                default -> answer(proxy, method, args);
            };
        }

        /** What is of a type of JDBC stays guarded; what is of one of the driver is not. */
        private @Nullable Object known(Object proxy, @Nullable Object type) {
            if (!(type instanceof Class<?> wanted)) {
                return null;
            }
            return wanted.isInstance(proxy) ? proxy : wanted.isInstance(raw) ? raw : null;
        }

        abstract @Nullable Object answer(Object proxy, Method method, @Nullable Object @Nullable [] args)
                throws Throwable;

        final @Nullable Object direct(Method method, @Nullable Object @Nullable [] args) throws Throwable {
            try {
                return method.invoke(raw, args);
            } catch (InvocationTargetException failure) {
                throw failure.getTargetException();
            }
        }

        static @Nullable String sql(@Nullable Object @Nullable [] args) {
            return args != null && args.length > 0 && args[0] instanceof String sql ? sql : null;
        }
    }

    private static final class OfConnection extends Handler {

        private final ConnectionGate gate;

        OfConnection(Connection raw, ConnectionGate gate) {
            super(raw);
            this.gate = gate;
        }

        @Override
        @Nullable
        Object answer(Object proxy, Method method, @Nullable Object @Nullable [] args) throws Throwable {
            return switch (method.getName()) {
                // those that must not wait, and those that send nothing; not clearWarnings: it is the one call that
                // HikariCP makes
                // whenever a connection comes back, and its failure keeps one that has been closed from the next caller
                case "abort",
                        "isClosed",
                        "getNetworkTimeout",
                        "getAutoCommit",
                        "getMetaData",
                        "getClientInfo",
                        "getTypeMap",
                        "getHoldability" -> direct(method, args);
                case "createStatement" -> statement(proxy, Statement.class, direct(method, args), null);
                case "prepareStatement" ->
                    statement(proxy, PreparedStatement.class, call(Kind.OTHER, method, args), sql(args));
                case "prepareCall" ->
                    statement(proxy, CallableStatement.class, call(Kind.OTHER, method, args), sql(args));
                case "commit" -> call(Kind.COMMIT, method, args);
                case "setAutoCommit" ->
                    call(args != null && Boolean.TRUE.equals(args[0]) ? Kind.AUTO_COMMIT : Kind.OTHER, method, args);
                case "close" -> call(Kind.CLEAN_UP, method, args);
                case "setClientInfo" -> clientInfo(method, args);
                case "setNetworkTimeout" -> direct(method, onThisThread(args));
                default -> call(Kind.OTHER, method, args);
            };
        }

        /**
         * The driver of MySQL leaves the change to the executor, and may make it after the next statement (bug 75615). HikariCP knows that
         * driver by the class of a data source, which it does not see behind this one.
         */
        private static @Nullable Object @Nullable [] onThisThread(@Nullable Object @Nullable [] args) {
            Executor direct = Runnable::run;
            return args == null ? null : new Object[] {direct, args[1]};
        }

        /** The only method of JDBC that may not throw each {@code SQLException}. */
        private @Nullable Object clientInfo(Method method, @Nullable Object @Nullable [] args) throws Throwable {
            try {
                return call(Kind.OTHER, method, args);
            } catch (SQLClientInfoException failure) {
                throw failure;
            } catch (SQLException failure) {
                throw new SQLClientInfoException(failure.getMessage(), failure.getSQLState(), Map.of(), failure);
            }
        }

        private @Nullable Object call(Kind kind, Method method, @Nullable Object @Nullable [] args) throws Throwable {
            return gate.call(kind, null, null, () -> direct(method, args));
        }

        private <T extends Statement> T statement(
                Object connection, Class<T> type, @Nullable Object raw, @Nullable String sql) {
            return proxy(
                    type, new OfStatement(Objects.requireNonNull(type.cast(raw)), (Connection) connection, gate, sql));
        }
    }

    /** What has a statement of its connection, and so can be cancelled. */
    private abstract static class OfRunning extends Handler {

        final Statement statement;
        final ConnectionGate gate;

        OfRunning(Wrapper raw, Statement statement, ConnectionGate gate) {
            super(raw);
            this.statement = statement;
            this.gate = gate;
        }

        final @Nullable Object pass(Kind kind, @Nullable String sql, Method method, @Nullable Object @Nullable [] args)
                throws Throwable {
            return gate.call(kind, statement, sql, () -> direct(method, args));
        }

        /** Only where rows come in portions, are changed, or need more than themselves, a row may need the database. */
        final @Nullable Object result(Object ofStatement, @Nullable Object result, @Nullable String sql)
                throws SQLException {
            return result instanceof ResultSet rows
                            && (gate.isPostgres()
                                    || statement.getFetchSize() != 0
                                    || statement.getResultSetConcurrency() == ResultSet.CONCUR_UPDATABLE)
                    ? proxy(ResultSet.class, new OfResult(rows, statement, ofStatement, gate, sql))
                    : result;
        }

        /** PostgreSQL's driver asks for names of types and tables. */
        final @Nullable Object description(@Nullable Object description) {
            if (gate.isPostgres() && description instanceof ResultSetMetaData columns) {
                return proxy(ResultSetMetaData.class, new OfDescription(columns, statement, gate));
            } else if (gate.isPostgres() && description instanceof ParameterMetaData parameters) {
                return proxy(ParameterMetaData.class, new OfDescription(parameters, statement, gate));
            }
            return description;
        }
    }

    private static final class OfDescription extends OfRunning {

        OfDescription(Wrapper raw, Statement statement, ConnectionGate gate) {
            super(raw, statement, gate);
        }

        @Override
        @Nullable
        Object answer(Object proxy, Method method, @Nullable Object @Nullable [] args) throws Throwable {
            return switch (method.getName()) {
                case "getColumnCount", "getColumnLabel", "getColumnName", "getParameterCount" -> direct(method, args);
                default -> pass(Kind.READ, null, method, args);
            };
        }
    }

    private static final class OfStatement extends OfRunning {

        private final Connection connection;
        private final @Nullable String prepared;

        OfStatement(Statement raw, Connection connection, ConnectionGate gate, @Nullable String prepared) {
            super(raw, raw, gate);
            this.connection = connection;
            this.prepared = prepared;
        }

        @Override
        @Nullable
        Object answer(Object proxy, Method method, @Nullable Object @Nullable [] args) throws Throwable {
            return switch (method.getName()) {
                case "execute",
                        "executeQuery",
                        "executeUpdate",
                        "executeBatch",
                        "executeLargeUpdate",
                        "executeLargeBatch" -> result(proxy, call(Kind.STATEMENT, method, args), prepared);
                // an out parameter may be a cursor
                case "getMoreResults", "getObject" -> result(proxy, call(Kind.READ, method, args), prepared);
                // these ask the database what a prepared statement looks like
                case "getMetaData", "getParameterMetaData" -> description(call(Kind.READ, method, args));
                case "setObject", "setArray", "setNull" ->
                    asksForType(args) ? call(Kind.READ, method, args) : direct(method, args);
                case "getWarnings" -> gate.call(Kind.OTHER, null, null, () -> direct(method, args));
                case "close" -> call(Kind.CLEAN_UP, method, args);
                case "getConnection" -> connection;
                case "getResultSet", "getGeneratedKeys" -> result(proxy, direct(method, args), prepared);
                default -> direct(method, args);
            };
        }

        private @Nullable Object call(Kind kind, Method method, @Nullable Object @Nullable [] args) throws Throwable {
            String given = sql(args);
            return pass(kind, given == null ? prepared : given, method, args);
        }

        /** PostgreSQL's driver asks for the number of a type that has only its name: of an array, of an object of its own. */
        private boolean asksForType(@Nullable Object @Nullable [] args) {
            return gate.isPostgres()
                    && args != null
                    && ((args[args.length - 1] instanceof String && args[1] instanceof Integer)
                            || args[1] instanceof Array
                            || args[1] instanceof Map
                            || (args[1] != null && args[1].getClass().getName().startsWith("org.postgresql.")));
        }
    }

    private static final class OfResult extends OfRunning {

        private final ResultSet rows;
        private final Object proxy;
        private final @Nullable String sql;
        private @Nullable Object description;
        private @Nullable BitSet asking; // columns

        OfResult(ResultSet rows, Statement statement, Object proxy, ConnectionGate gate, @Nullable String sql) {
            super(rows, statement, gate);
            this.rows = rows;
            this.proxy = proxy;
            this.sql = sql;
        }

        @Override
        @Nullable
        Object answer(Object self, Method method, @Nullable Object @Nullable [] args) throws Throwable {
            return switch (method.getName()) {
                case "next",
                        "previous",
                        "first",
                        "last",
                        "absolute",
                        "relative",
                        "beforeFirst",
                        "afterLast",
                        "isLast",
                        "insertRow",
                        "updateRow",
                        "deleteRow",
                        "refreshRow" -> pass(Kind.READ, sql, method, args);
                case "getObject", "getArray" ->
                    result(proxy, asks(args) ? value(method, args) : direct(method, args), sql);
                case "getMetaData" -> {
                    description = description == null ? description(direct(method, args)) : description;
                    yield description;
                }
                case "close" -> pass(Kind.CLEAN_UP, sql, method, args);
                case "getStatement" -> proxy;
                default -> direct(method, args);
            };
        }

        /** PostgreSQL's driver fetches the rows of a cursor that is a value, and asks for the type of an array's elements. */
        private boolean asks(@Nullable Object @Nullable [] args) throws Throwable {
            if (!gate.isPostgres() || args == null) {
                return false;
            }
            BitSet found = asking;
            if (found == null) {
                found = (BitSet) Objects.requireNonNull(gate.call(Kind.READ, statement, sql, this::columns));
                asking = found;
            }
            return found.get(args[0] instanceof Integer column ? column : rows.findColumn(String.valueOf(args[0])));
        }

        private BitSet columns() throws SQLException {
            ResultSetMetaData columns = rows.getMetaData();
            BitSet found = new BitSet();
            for (int i = 1; i <= columns.getColumnCount(); i++) {
                int type = columns.getColumnType(i);
                found.set(i, type == Types.ARRAY || type == Types.REF_CURSOR);
            }
            return found;
        }

        private @Nullable Object value(Method method, @Nullable Object @Nullable [] args) throws Throwable {
            return gate.call(Kind.READ, statement, sql, () -> {
                Object value = direct(method, args);
                if (value instanceof Array array) {
                    String unused = array.getBaseTypeName(); // is known from now on
                }
                return value;
            });
        }
    }
}
