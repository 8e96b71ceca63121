package io.github.virtualthread.aop;

import io.github.virtualthread.execution.TaskBody;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskSpec;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.concurrent.CancellationException;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * Runs calls on the thread of their caller, under the limit.
 *
 * @param engine has the permits
 * @param spec name and limit
 * @param throwsInterruption whether the method declares {@link InterruptedException}, as far as its callers see
 */
record LimitedCall(TaskEngine engine, TaskSpec spec, boolean throwsInterruption) implements MethodCall {

    static LimitedCall of(Method called, TaskEngine engine, TaskSpec spec) {
        boolean throwsInterruption = Arrays.stream(called.getExceptionTypes())
                .anyMatch(declared -> declared.isAssignableFrom(InterruptedException.class));
        return new LimitedCall(engine, spec, throwsInterruption);
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Body body = new Body(invocation);
        try {
            return engine.call(spec, body);
        } catch (InterruptedException interruption) {
            if (body.started || throwsInterruption) {
                throw interruption;
            }
            Thread.currentThread().interrupt();
            CancellationException cancelled = new CancellationException(interruption.getMessage());
            cancelled.initCause(interruption);
            throw cancelled;
        }
    }

    /** What the body throws is its own, also an interruption that it does not declare. */
    private static final class Body implements TaskBody {

        private final MethodInvocation invocation;
        private boolean started;

        Body(MethodInvocation invocation) {
            this.invocation = invocation;
        }

        @Override
        public @Nullable Object run() throws Throwable {
            started = true;
            return invocation.proceed();
        }
    }
}
