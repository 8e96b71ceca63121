package io.github.virtualthread.aop;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** How calls of one method are run; made at the first of them. */
@FunctionalInterface
interface MethodCall {

    /** The method as if it were not annotated. */
    MethodCall IN_PLACE = MethodInvocation::proceed;

    @Nullable
    Object invoke(MethodInvocation invocation) throws Throwable;
}
