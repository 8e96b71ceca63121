package io.github.virtualthread.interceptor;

import io.github.virtualthread.execution.TaskEngine;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;

/**
 * What calls of annotated methods need. A bean of this type is looked up at the first call, so that nothing of it is
 * created together with the post-processors.
 *
 * @param engine runs the calls
 * @param defaultLimit limit of methods that name none, null for no limit
 * @param uncaughtExceptionHandler told what {@code void} methods throw
 */
public record Interception(
        TaskEngine engine, @Nullable String defaultLimit, AsyncUncaughtExceptionHandler uncaughtExceptionHandler) {}
