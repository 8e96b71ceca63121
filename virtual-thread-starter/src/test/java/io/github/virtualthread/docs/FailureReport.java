package io.github.virtualthread.docs;

import java.lang.reflect.Method;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.stereotype.Component;

// example: FailureReport
@Component
class FailureReport implements AsyncUncaughtExceptionHandler {

    private static final Logger log = LoggerFactory.getLogger(FailureReport.class);

    @Override
    public void handleUncaughtException(Throwable failure, Method method, Object... arguments) {
        log.error("{} failed", method.getName(), failure);
    }
}
// end
