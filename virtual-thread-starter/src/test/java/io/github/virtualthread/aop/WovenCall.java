package io.github.virtualthread.aop;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Method;
import java.util.concurrent.CompletableFuture;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ReflectionUtils;

/** What the aspect hands over, without AspectJ: a call of a method whose body tells its thread. */
record WovenCall(Method method, @Nullable Object target) implements MethodInvocation {

    static WovenCall of(Object target, String method) {
        return of(target.getClass(), target, method);
    }

    static WovenCall of(Class<?> type, @Nullable Object target, String name) {
        Method method = ReflectionUtils.findMethod(type, name);
        if (method == null) {
            throw new AssertionError("no method " + name);
        }
        return new WovenCall(method, target);
    }

    @Override
    public Object proceed() {
        return CompletableFuture.completedFuture(Thread.currentThread());
    }

    @Override
    public Method getMethod() {
        return method;
    }

    @Override
    public Object[] getArguments() {
        return new Object[0];
    }

    @Override
    public @Nullable Object getThis() {
        return target;
    }

    @Override
    public AccessibleObject getStaticPart() {
        return method;
    }

    /** The thread on which the body ran. */
    Thread runBy(WovenCalls calls) {
        try {
            return (Thread) ((CompletableFuture<?>) calls.invoke(this)).join();
        } catch (RuntimeException | Error failure) {
            throw failure;
        } catch (Throwable failure) {
            throw new AssertionError(failure);
        }
    }
}
