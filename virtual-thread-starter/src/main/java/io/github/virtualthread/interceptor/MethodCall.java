package io.github.virtualthread.interceptor;

import io.github.virtualthread.execution.TaskSpec;
import java.lang.reflect.Method;

/**
 * What every call of one method has in common.
 *
 * @param method the method that runs
 * @param returnsNothing whether callers get no future
 * @param spec name and limit
 */
record MethodCall(Method method, boolean returnsNothing, TaskSpec spec) {}
