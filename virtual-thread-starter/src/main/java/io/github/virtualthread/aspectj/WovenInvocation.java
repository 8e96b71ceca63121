package io.github.virtualthread.aspectj;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Method;
import org.aopalliance.intercept.MethodInvocation;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.reflect.MethodSignature;
import org.jspecify.annotations.Nullable;

/**
 * A join point as the interceptor knows calls, so that woven and proxied methods are run by the same code.
 *
 * <p>{@link #proceed} comes on the thread of the task. Where several aspects advise one method, AspectJ keeps the advice that
 * is next in a thread-local of the join point. On a thread that has no value it is the advice that was entered last: ours,
 * since nothing inside has been entered before we proceed. So the task's thread needs to inherit nothing, but ours must
 * come before all others, and proceed once.
 *
 * @param joinPoint execution of a method
 */
record WovenInvocation(ProceedingJoinPoint joinPoint) implements MethodInvocation {

    @Override
    public Method getMethod() {
        return ((MethodSignature) joinPoint.getSignature()).getMethod();
    }

    @Override
    @SuppressWarnings("NullAway") // arguments may be null, which aopalliance does not say
    public Object[] getArguments() {
        return joinPoint.getArgs();
    }

    @Override
    public @Nullable Object proceed() throws Throwable {
        return joinPoint.proceed();
    }

    @Override
    public @Nullable Object getThis() {
        return joinPoint.getThis();
    }

    @Override
    public AccessibleObject getStaticPart() {
        return getMethod();
    }
}
