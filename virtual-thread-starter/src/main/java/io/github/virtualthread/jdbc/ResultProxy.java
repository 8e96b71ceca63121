package io.github.virtualthread.jdbc;

import java.lang.reflect.Method;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.util.BitSet;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A result whose rows, values or descriptions may need the database. */
final class ResultProxy extends DriverProxy {

    private final ResultSet rows;
    private final Object proxy;
    private final @Nullable String sql;
    private final boolean complete; // the driver has all rows
    private @Nullable Object description;
    private @Nullable BitSet asking; // columns

    private ResultProxy(ResultSet rows, Statement running, Object proxy, ConnectionGate gate, @Nullable String sql)
            throws SQLException {
        super(rows, running, gate);
        this.rows = rows;
        this.proxy = proxy;
        this.sql = sql;
        // of the rows: that of the statement may be another by now, and that of a cursor is. Changed rows are no
        // exception
        this.complete = gate.isPostgres() && rows.getFetchSize() == 0;
    }

    /** Only where rows come in portions, are changed, or need more than themselves, a row may need the database. */
    static @Nullable Object of(
            @Nullable Object result,
            @Nullable Statement running,
            Object proxy,
            ConnectionGate gate,
            @Nullable String sql)
            throws SQLException {
        if (running != null
                && result instanceof ResultSet rows
                && (gate.isPostgres()
                        || running.getFetchSize() != 0
                        || running.getResultSetConcurrency() == ResultSet.CONCUR_UPDATABLE)) {
            return of(ResultSet.class, new ResultProxy(rows, running, proxy, gate, sql));
        }
        return result;
    }

    @Override
    protected @Nullable Object answer(Object self, Method method, @Nullable Object[] args) throws Throwable {
        return switch (method.getName()) {
            case "next" -> complete ? direct(method, args) : pass(Kind.READ, sql, method, args);
            case "previous", "first", "last", "absolute", "relative" -> pass(Kind.READ, sql, method, args);
            case "beforeFirst", "afterLast", "isLast" -> pass(Kind.READ, sql, method, args);
            case "insertRow", "updateRow", "deleteRow", "refreshRow" -> pass(Kind.READ, sql, method, args);
            case "getObject", "getArray" ->
                of(asks(args) ? value(method, args) : direct(method, args), running, proxy, gate, sql);
            case "getMetaData" -> {
                if (description == null) {
                    description = DescriptionProxy.of(direct(method, args), running, gate);
                }
                yield description;
            }
            case "close" -> pass(Kind.CLEAN_UP, sql, method, args);
            case "getStatement" -> proxy;
            default -> direct(method, args);
        };
    }

    /** PostgreSQL's driver fetches the rows of a cursor that is a value, and asks for the type of an array's elements. */
    private boolean asks(@Nullable Object[] args) throws Throwable {
        if (!gate.isPostgres()) {
            return false;
        }
        if (asking == null) {
            asking = (BitSet) Objects.requireNonNull(gate.call(Kind.READ, running, sql, this::columns));
        }
        return asking.get(args[0] instanceof Integer column ? column : rows.findColumn(String.valueOf(args[0])));
    }

    private BitSet columns() throws SQLException {
        ResultSetMetaData columns = rows.getMetaData();
        BitSet found = new BitSet();
        for (int i = 1; i <= columns.getColumnCount(); i++) {
            found.set(i, isAsking(columns, i));
        }
        return found;
    }

    private static boolean isAsking(ResultSetMetaData columns, int column) {
        try {
            int type = columns.getColumnType(column);
            return type == Types.ARRAY || type == Types.REF_CURSOR;
        } catch (SQLException unknown) {
            return true; // the transaction has failed, and the driver needs no type for most values
        }
    }

    private @Nullable Object value(Method method, @Nullable Object[] args) throws Throwable {
        return gate.call(Kind.READ, running, sql, () -> {
            Object value = direct(method, args);
            if (value instanceof Array array) {
                learnType(array);
            }
            return value;
        });
    }

    /** The driver asks when the elements are read, and not here. */
    private static void learnType(Array array) {
        try {
            String unused = array.getBaseTypeName();
        } catch (SQLException unknown) {
            // the transaction has failed, as in isAsking
        }
    }
}
