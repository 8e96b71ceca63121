package io.github.virtualthread.jdbc;

import java.lang.reflect.Method;
import java.sql.ParameterMetaData;
import java.sql.ResultSetMetaData;
import java.sql.Statement;
import java.sql.Wrapper;
import org.jspecify.annotations.Nullable;

/** A description of columns or parameters. PostgreSQL's driver asks the database for the names of their types and tables. */
final class DescriptionProxy extends DriverProxy {

    private DescriptionProxy(Wrapper raw, @Nullable Statement running, ConnectionGate gate) {
        super(raw, running, gate);
    }

    /** Only where a description needs the database, it stands behind a proxy. */
    static @Nullable Object of(@Nullable Object description, @Nullable Statement running, ConnectionGate gate) {
        if (gate.isPostgres() && description instanceof ResultSetMetaData columns) {
            return of(ResultSetMetaData.class, new DescriptionProxy(columns, running, gate));
        }
        if (gate.isPostgres() && description instanceof ParameterMetaData parameters) {
            return of(ParameterMetaData.class, new DescriptionProxy(parameters, running, gate));
        }
        return description;
    }

    @Override
    protected @Nullable Object answer(Object proxy, Method method, @Nullable Object[] args) throws Throwable {
        return switch (method.getName()) {
            case "getColumnCount", "getColumnLabel", "getColumnName", "getParameterCount" -> direct(method, args);
            default -> pass(Kind.READ, null, method, args);
        };
    }
}
