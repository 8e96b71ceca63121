package io.github.virtualthread.aop;

import io.github.virtualthread.execution.TaskEngine;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;

/**
 * Logs at ERROR what a {@code void} method throws. The arguments are left out: they may be secret. Rejections are left out too: the
 * engine logs them, with their number.
 */
final class LoggingUncaughtExceptionHandler implements AsyncUncaughtExceptionHandler {

    private static final Logger logger = LoggerFactory.getLogger(LoggingUncaughtExceptionHandler.class);

    @Override
    public void handleUncaughtException(Throwable ex, Method method, @Nullable Object... params) {
        log(method.getDeclaringClass().getName() + "." + method.getName(), ex);
    }

    void log(String task, Throwable failure) {
        if (!TaskEngine.isRejection(failure)) {
            logger.error("{} failed, and nobody waits for its outcome", task, failure);
        }
    }
}
