package io.github.virtualthread.interceptor;

import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.scheduling.annotation.AsyncConfigurer;

/**
 * Hands failures of {@code void} methods to the handler that the application has: its {@link
 * AsyncUncaughtExceptionHandler} bean, else that of its {@link AsyncConfigurer}, else the log at ERROR.
 *
 * <p>Looks for it at the first failure, so that neither is created early. Several candidates without a primary one
 * count as none. Must not be a bean of type {@code AsyncUncaughtExceptionHandler} itself.
 */
public final class ApplicationUncaughtExceptionHandler implements AsyncUncaughtExceptionHandler {

    private static final Logger logger = LoggerFactory.getLogger(ApplicationUncaughtExceptionHandler.class);

    private final BeanFactory beanFactory;
    private volatile @Nullable AsyncUncaughtExceptionHandler found;

    /**
     * A handler that has looked for nothing yet.
     *
     * @param beanFactory where the application's handler is looked up
     */
    public ApplicationUncaughtExceptionHandler(BeanFactory beanFactory) {
        this.beanFactory = beanFactory;
    }

    @Override
    public void handleUncaughtException(Throwable ex, Method method, @Nullable Object... params) {
        AsyncUncaughtExceptionHandler handler = found;
        if (handler == null) {
            handler = find();
            found = handler;
        }
        handler.handleUncaughtException(ex, method, params);
    }

    private AsyncUncaughtExceptionHandler find() {
        AsyncUncaughtExceptionHandler handler = null;
        try {
            handler = beanFactory
                    .getBeanProvider(AsyncUncaughtExceptionHandler.class)
                    .getIfUnique();
            if (handler == null) {
                handler = ofConfigurer();
            }
        } catch (BeansException failure) {
            logger.error("The handler of uncaught exceptions cannot be created; they are logged instead", failure);
        }
        return handler == null ? new LoggingUncaughtExceptionHandler() : handler;
    }

    private @Nullable AsyncUncaughtExceptionHandler ofConfigurer() {
        AsyncConfigurer configurer =
                beanFactory.getBeanProvider(AsyncConfigurer.class).getIfUnique();
        return configurer == null ? null : configurer.getAsyncUncaughtExceptionHandler();
    }
}
