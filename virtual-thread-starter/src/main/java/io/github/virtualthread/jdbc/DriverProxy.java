package io.github.virtualthread.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Wrapper;
import org.jspecify.annotations.Nullable;

/** Stands for an object of the driver whose calls pass a gate. */
abstract class DriverProxy implements InvocationHandler {

    private final Wrapper raw;

    DriverProxy(Wrapper raw) {
        this.raw = raw;
    }

    static <T> T of(Class<T> type, DriverProxy handler) {
        return type.cast(Proxy.newProxyInstance(DriverProxy.class.getClassLoader(), new Class<?>[] {type}, handler));
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

    abstract @Nullable Object answer(Object proxy, Method method, @Nullable Object @Nullable [] args) throws Throwable;

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
