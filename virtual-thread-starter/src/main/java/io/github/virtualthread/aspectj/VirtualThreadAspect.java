package io.github.virtualthread.aspectj;

import io.github.virtualthread.aop.WovenCalls;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Method;
import org.aopalliance.intercept.MethodInvocation;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.DeclarePrecedence;
import org.aspectj.lang.annotation.Pointcut;
import org.aspectj.lang.reflect.MethodSignature;
import org.jspecify.annotations.Nullable;

/**
 * Runs methods with {@link io.github.virtualthread.VirtualThread} and {@link io.github.virtualthread.Limited} as these say,
 * where AspectJ has woven it into their classes: at load time by {@code META-INF/aop.xml} of this library, or at compile time
 * with this library as an aspect library. Not a Spring bean.
 *
 * <p>It only says which methods may be meant. What an annotation means is decided at the call, by the application context to
 * which the call belongs; where that intercepts by proxies, the method runs in place. Advice of all other aspects runs inside,
 * on the virtual thread.
 */
@Aspect
@DeclarePrecedence("io.github.virtualthread.aspectj.VirtualThreadAspect, *")
public final class VirtualThreadAspect {

    private static final VirtualThreadAspect INSTANCE = new VirtualThreadAspect();

    private VirtualThreadAspect() {}

    /**
     * The one instance. Written here, where a weaver would otherwise have to add it: so classes can be woven at compile time
     * without weaving this library too.
     *
     * @return always the same
     */
    public static VirtualThreadAspect aspectOf() {
        return INSTANCE;
    }

    /**
     * Whether there is an instance, which belongs to {@link #aspectOf}.
     *
     * @return true
     */
    public static boolean hasAspect() {
        return true;
    }

    /** Methods that are annotated themselves, or by an annotation that is annotated, up to two steps away. */
    @Pointcut(
            "execution(@(io.github.virtualthread.VirtualThread || io.github.virtualthread.Limited) * *(..))"
                    + " || execution(@(@(io.github.virtualthread.VirtualThread || io.github.virtualthread.Limited) *) * *(..))"
                    + " || execution(@(@(@(io.github.virtualthread.VirtualThread || io.github.virtualthread.Limited) *) *) * *(..))")
    void annotatedMethod() {}

    /**
     * Public methods of types that are annotated in one of these ways. By {@code within}, which looks at the type alone:
     * {@code execution} with such a type would look at all that it inherits too.
     */
    @Pointcut("execution(public !static * *(..)) && ("
            + "within(@(io.github.virtualthread.VirtualThread || io.github.virtualthread.Limited) *)"
            + " || within(@(@(io.github.virtualthread.VirtualThread || io.github.virtualthread.Limited) *) *)"
            + " || within(@(@(@(io.github.virtualthread.VirtualThread || io.github.virtualthread.Limited) *) *) *))")
    void methodOfAnnotatedType() {}

    /**
     * Runs one call.
     *
     * @param joinPoint the call
     * @return what its caller gets
     * @throws Throwable what the method throws where it runs on the caller's thread
     */
    // a weaver would take the name from the table of local variables, which the jar leaves out
    @Around(value = "annotatedMethod() || methodOfAnnotatedType()", argNames = "joinPoint")
    public @Nullable Object run(ProceedingJoinPoint joinPoint) throws Throwable {
        return WovenCalls.run(new WovenInvocation(joinPoint));
    }

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
    private record WovenInvocation(ProceedingJoinPoint joinPoint) implements MethodInvocation {

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
}
