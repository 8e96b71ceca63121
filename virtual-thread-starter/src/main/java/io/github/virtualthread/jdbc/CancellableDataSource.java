package io.github.virtualthread.jdbc;

import java.io.PrintWriter;
import java.lang.reflect.Method;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLClientInfoException;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
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
        return DriverProxy.of(Connection.class, new OfConnection(raw, new ConnectionGate(raw, times)));
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

    private static final class OfConnection extends DriverProxy {

        OfConnection(Connection raw, ConnectionGate gate) {
            super(raw, null, gate);
        }

        @Override
        protected @Nullable Object answer(Object proxy, Method method, @Nullable Object[] args) throws Throwable {
            return switch (method.getName()) {
                // must not wait
                case "abort", "isClosed", "getNetworkTimeout" -> direct(method, args);
                // send nothing. Not clearWarnings: HikariCP calls it when a connection comes back, and its failure
                // keeps one that has been closed from the next caller
                case "getAutoCommit", "getMetaData", "getClientInfo", "getTypeMap", "getHoldability" ->
                    direct(method, args);
                case "createStatement" -> statement(proxy, Statement.class, direct(method, args), null);
                case "prepareStatement" ->
                    statement(proxy, PreparedStatement.class, pass(Kind.OTHER, null, method, args), sql(args));
                case "prepareCall" ->
                    statement(proxy, CallableStatement.class, pass(Kind.OTHER, null, method, args), sql(args));
                case "commit" -> pass(Kind.COMMIT, null, method, args);
                case "setAutoCommit" ->
                    pass(Boolean.TRUE.equals(args[0]) ? Kind.AUTO_COMMIT : Kind.OTHER, null, method, args);
                case "close" -> pass(Kind.CLEAN_UP, null, method, args);
                case "setClientInfo" -> clientInfo(method, args);
                // on this thread: the driver of MySQL leaves the change to the executor, and may make it after the next
                // statement (bug 75615). HikariCP knows that driver by the class of a data source, which it does not
                // see behind this one
                case "setNetworkTimeout" -> direct(method, new Object[] {(Executor) Runnable::run, args[1]});
                default -> pass(Kind.OTHER, null, method, args);
            };
        }

        /** The only method of JDBC that may not throw each {@code SQLException}. */
        private @Nullable Object clientInfo(Method method, @Nullable Object[] args) throws Throwable {
            try {
                return pass(Kind.OTHER, null, method, args);
            } catch (SQLClientInfoException failure) {
                throw failure;
            } catch (SQLException failure) {
                throw new SQLClientInfoException(failure.getMessage(), failure.getSQLState(), Map.of(), failure);
            }
        }

        private <T extends Statement> T statement(
                Object connection, Class<T> type, @Nullable Object raw, @Nullable String sql) {
            return of(
                    type,
                    new StatementProxy(Objects.requireNonNull(type.cast(raw)), (Connection) connection, gate, sql));
        }
    }
}
