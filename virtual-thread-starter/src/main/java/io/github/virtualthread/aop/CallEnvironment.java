package io.github.virtualthread.aop;

import io.github.virtualthread.execution.TaskEngine;
import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;

/**
 * What calls of annotated methods need. A bean of this type is looked up at the first call, so that nothing of it is
 * created together with the post-processors.
 *
 * @param engine runs the calls
 * @param settings what applies where an annotation says nothing
 * @param uncaughtExceptionHandler told what {@code void} methods throw
 */
public record CallEnvironment(
        TaskEngine engine, MethodSettings settings, AsyncUncaughtExceptionHandler uncaughtExceptionHandler) {}
