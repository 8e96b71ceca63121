package io.github.virtualthread.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Statement;
import java.sql.Wrapper;
import org.jspecify.annotations.Nullable;

/** Stands for an object of the driver whose calls pass a gate. */
abstract class DriverProxy implements InvocationHandler {

    private static final @Nullable Object[] NONE = {};

    private final Wrapper raw;
    final @Nullable Statement running;
    final ConnectionGate gate;

    /** Its calls can be cancelled by a statement, unless that is null. */
    DriverProxy(Wrapper raw, @Nullable Statement running, ConnectionGate gate) {
        this.raw = raw;
        this.running = running;
        this.gate = gate;
    }

    static <T> T of(Class<T> type, DriverProxy handler) {
        return type.cast(Proxy.newProxyInstance(DriverProxy.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // a proxy equals itself
    public final @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] given)
            throws Throwable {
        @Nullable Object[] args = given == null ? NONE : given;
        return switch (method.getName()) {
            case "equals" -> proxy == args[0];
            case "hashCode" -> System.identityHashCode(proxy);
            case "toString" -> raw.toString();
            case "unwrap" -> {
                Object known = known(proxy, args[0]);
                yield known == null ? direct(method, args) : known;
            }
            case "isWrapperFor" -> known(proxy, args[0]) != null || Boolean.TRUE.equals(direct(method, args));
            default -> answer(proxy, method, args);
        };
    }

    /** What is of a type of JDBC stays guarded; what is of one of the driver is not. */
    private @Nullable Object known(Object proxy, @Nullable Object type) {
        if (!(type instanceof Class<?> wanted)) {
            return null;
        }
        if (wanted.isInstance(proxy)) {
            return proxy;
        }
        return wanted.isInstance(raw) ? raw : null;
    }

    /** Answers a call that is none of {@link Object}, and does not unwrap. */
    protected abstract @Nullable Object answer(Object proxy, Method method, @Nullable Object[] args) throws Throwable;

    final @Nullable Object direct(Method method, @Nullable Object[] args) throws Throwable {
        try {
            return method.invoke(raw, args);
        } catch (InvocationTargetException failure) {
            throw failure.getTargetException();
        }
    }

    final @Nullable Object pass(Kind kind, @Nullable String sql, Method method, @Nullable Object[] args)
            throws Throwable {
        return gate.call(kind, running, sql, () -> direct(method, args));
    }

    static @Nullable String sql(@Nullable Object[] args) {
        return args.length > 0 && args[0] instanceof String sql ? sql : null;
    }
}
