package io.github.virtualthread.jdbc;

import io.github.virtualthread.jdbc.ConnectionGate.Kind;
import java.lang.reflect.Method;
import java.sql.ParameterMetaData;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Wrapper;
import org.jspecify.annotations.Nullable;

/** What has a statement of its connection, and so can be cancelled. */
abstract class RunningProxy extends DriverProxy {

    final Statement statement;
    final ConnectionGate gate;

    RunningProxy(Wrapper raw, Statement statement, ConnectionGate gate) {
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
                ? of(ResultSet.class, new ResultProxy(rows, statement, ofStatement, gate, sql))
                : result;
    }

    /** PostgreSQL's driver asks for names of types and tables. */
    final @Nullable Object description(@Nullable Object description) {
        if (gate.isPostgres() && description instanceof ResultSetMetaData columns) {
            return of(ResultSetMetaData.class, new Description(columns, statement, gate));
        } else if (gate.isPostgres() && description instanceof ParameterMetaData parameters) {
            return of(ParameterMetaData.class, new Description(parameters, statement, gate));
        }
        return description;
    }

    private static final class Description extends RunningProxy {

        Description(Wrapper raw, Statement statement, ConnectionGate gate) {
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
}
