package io.github.virtualthread.aop;

import io.github.virtualthread.Internal;
import io.github.virtualthread.execution.TaskEngine;
import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;

/**
 * What calls of annotated methods need. A bean of this type is looked up at the first call, so that its parts are not
 * created together with the post-processors.
 *
 * @param engine runs the calls
 * @param settings defaults and overrides of annotations
 * @param uncaughtExceptionHandler receives the exceptions of {@code void} methods
 */
@Internal
public record CallEnvironment(
        TaskEngine engine, MethodSettings settings, AsyncUncaughtExceptionHandler uncaughtExceptionHandler) {}
