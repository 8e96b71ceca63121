package io.github.virtualthread.jdbc;

import java.lang.reflect.Method;
import java.sql.Array;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A statement. What it executes can be cancelled. */
final class StatementProxy extends DriverProxy {

    private final Connection connection;
    private final @Nullable String prepared;

    StatementProxy(Statement raw, Connection connection, ConnectionGate gate, @Nullable String prepared) {
        super(raw, raw, gate);
        this.connection = connection;
        this.prepared = prepared;
    }

    @Override
    protected @Nullable Object answer(Object proxy, Method method, @Nullable Object[] args) throws Throwable {
        return switch (method.getName()) {
            case "execute", "executeQuery" -> result(proxy, call(Kind.STATEMENT, method, args));
            case "executeUpdate", "executeBatch", "executeLargeUpdate", "executeLargeBatch" ->
                result(proxy, call(Kind.STATEMENT, method, args));
            // an out parameter may be a cursor
            case "getMoreResults", "getObject" -> result(proxy, call(Kind.READ, method, args));
            // these ask the database what a prepared statement looks like
            case "getMetaData", "getParameterMetaData" ->
                DescriptionProxy.of(call(Kind.READ, method, args), running, gate);
            case "setObject", "setArray", "setNull" ->
                asksForType(args) ? call(Kind.READ, method, args) : direct(method, args);
            case "getWarnings" -> gate.call(Kind.OTHER, null, null, () -> direct(method, args));
            case "close" -> call(Kind.CLEAN_UP, method, args);
            case "getConnection" -> connection;
            case "getResultSet", "getGeneratedKeys" -> result(proxy, direct(method, args));
            default -> direct(method, args);
        };
    }

    private @Nullable Object result(Object proxy, @Nullable Object result) throws SQLException {
        return ResultProxy.of(result, running, proxy, gate, prepared);
    }

    private @Nullable Object call(Kind kind, Method method, @Nullable Object[] args) throws Throwable {
        String given = sql(args);
        return pass(kind, given == null ? prepared : given, method, args);
    }

    /** PostgreSQL's driver asks for the number of a type that has only its name: of an array, of an object of its own. */
    private boolean asksForType(@Nullable Object[] args) {
        return gate.isPostgres()
                && ((args[args.length - 1] instanceof String && args[1] instanceof Integer)
                        || args[1] instanceof Array
                        || args[1] instanceof Map
                        || (args[1] != null && args[1].getClass().getName().startsWith("org.postgresql.")));
    }
}
