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
 * Intercepts methods with {@link io.github.virtualthread.VirtualThread} and {@link io.github.virtualthread.Limited} in
 * classes into which AspectJ has woven it: at load time by {@code META-INF/aop.xml} of this library, or at compile time with
 * this library as an aspect library. Not a Spring bean.
 *
 * <p>It only selects candidates. The application context that a call belongs to decides at the call what the annotation
 * means; if that context uses proxies, the method runs in place. The advice of all other aspects runs inside, on the virtual
 * thread.
 */
@Aspect
@DeclarePrecedence("io.github.virtualthread.aspectj.VirtualThreadAspect, *")
public final class VirtualThreadAspect {

    private static final VirtualThreadAspect INSTANCE = new VirtualThreadAspect();

    private VirtualThreadAspect() {}

    /**
     * Returns the only instance. A weaver would add this method; written by hand, it allows weaving classes at compile time
     * without weaving this library too.
     *
     * @return always the same
     */
    public static VirtualThreadAspect aspectOf() {
        return INSTANCE;
    }

    /**
     * Whether there is an instance; goes with {@link #aspectOf}.
     *
     * @return true
     */
    public static boolean hasAspect() {
        return true;
    }

    /** Methods that have an annotation, directly or by an annotation that has it, up to two steps away. */
    @Pointcut(
            "execution(@(io.github.virtualthread.VirtualThread || io.github.virtualthread.Limited) * *(..))"
                    + " || execution(@(@(io.github.virtualthread.VirtualThread || io.github.virtualthread.Limited) *) * *(..))"
                    + " || execution(@(@(@(io.github.virtualthread.VirtualThread || io.github.virtualthread.Limited) *) *) * *(..))")
    void annotatedMethod() {}

    /**
     * Public methods of types that are annotated in one of these ways. Uses {@code within}, which inspects the type alone;
     * {@code execution} would also inspect everything that the type inherits.
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
     * @return what the caller gets
     * @throws Throwable the exception of a method that runs on the caller's thread
     */
    @Around("annotatedMethod() || methodOfAnnotatedType()")
    public @Nullable Object run(ProceedingJoinPoint joinPoint) throws Throwable {
        return WovenCalls.run(new WovenInvocation(joinPoint));
    }

    /**
     * Adapts a join point to the interceptor, so that the same code runs woven and proxied methods.
     *
     * <p>{@link #proceed} is called on the thread of the task. If several aspects advise one method, AspectJ keeps the next
     * advice in a thread-local of the join point. On a thread without a value, the next advice follows the one that was
     * entered last. That is ours, because nothing inside has been entered before we proceed. So the task's thread need not
     * inherit anything, but our advice must come before all others, and proceed once.
     *
     * @param joinPoint execution of a method
     */
    private record WovenInvocation(ProceedingJoinPoint joinPoint) implements MethodInvocation {

        @Override
        public Method getMethod() {
            return ((MethodSignature) joinPoint.getSignature()).getMethod();
        }

        @Override
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
