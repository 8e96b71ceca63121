package io.github.virtualthread.aop;

import io.github.virtualthread.Internal;
import io.github.virtualthread.execution.FailureHandler;
import io.github.virtualthread.execution.VirtualThreads;
import java.lang.reflect.Method;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.aop.interceptor.SimpleAsyncUncaughtExceptionHandler;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.scheduling.annotation.AsyncConfigurer;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Passes exceptions of {@code void} methods to the handler of the application: its {@link AsyncUncaughtExceptionHandler}
 * bean, otherwise that of its {@link AsyncConfigurer}, otherwise the log at ERROR. A handler that only logs does not get rejections,
 * because the engine logs them with their number.
 *
 * <p>The handler is looked up at the first failure, so that it is not created early. Several candidates without a primary
 * one count as none. This object must not be a bean of type {@code AsyncUncaughtExceptionHandler} itself.
 */
@Internal
public final class ApplicationUncaughtExceptionHandler implements AsyncUncaughtExceptionHandler, FailureHandler {

    private static final Logger logger = LoggerFactory.getLogger(ApplicationUncaughtExceptionHandler.class);

    /** Logs exceptions of {@code void} methods at ERROR. Arguments are omitted, because they may be secret. */
    static final AsyncUncaughtExceptionHandler LOGGING =
            (failure, method, params) -> log(method.getDeclaringClass().getName() + "." + method.getName(), failure);

    private static final Method EXECUTE = ClassUtils.getMethod(VirtualThreads.class, "execute", Runnable.class);

    private final SingletonSupplier<AsyncUncaughtExceptionHandler> found;

    /**
     * Creates a handler, which looks up the one of the application at the first failure.
     *
     * @param beanFactory where the application's handler is looked up
     */
    public ApplicationUncaughtExceptionHandler(BeanFactory beanFactory) {
        this.found = SingletonSupplier.of(() -> find(beanFactory));
    }

    @Override
    public void handleUncaughtException(Throwable ex, Method method, @Nullable Object... params) {
        found.obtain().handleUncaughtException(ex, method, params);
    }

    /**
     * Passes on the failure of a task that is not a bean method. The application's handler gets
     * {@link VirtualThreads#execute(Runnable)} as the method, without arguments.
     *
     * @param task name of the task
     * @param failure what it threw
     */
    @Override
    public void failed(String task, Throwable failure) {
        AsyncUncaughtExceptionHandler handler = found.obtain();
        if (LOGGING.equals(handler)) {
            log(task, failure);
        } else {
            handler.handleUncaughtException(failure, EXECUTE);
        }
    }

    /** As {@link #failed}, but does nothing if the application has no handler. */
    @Override
    public void rejected(String task, Throwable rejection) {
        rejected(this, rejection, EXECUTE);
    }

    /**
     * Passes on the rejection of a call, unless its handler only logs.
     *
     * @param handler handler of the application or of Spring
     * @param rejection why the call was rejected
     * @param method method that was called
     * @param params arguments of the call
     */
    public static void rejected(
            AsyncUncaughtExceptionHandler handler, Throwable rejection, Method method, @Nullable Object... params) {
        AsyncUncaughtExceptionHandler last = handler;
        if (handler instanceof ApplicationUncaughtExceptionHandler ofApplication) {
            last = ofApplication.found.obtain();
        }
        if (!LOGGING.equals(last) && last.getClass() != SimpleAsyncUncaughtExceptionHandler.class) {
            last.handleUncaughtException(rejection, method, params);
        }
    }

    private static AsyncUncaughtExceptionHandler find(BeanFactory beans) {
        try {
            return unique(beans, AsyncUncaughtExceptionHandler.class)
                    .or(() ->
                            unique(beans, AsyncConfigurer.class).map(AsyncConfigurer::getAsyncUncaughtExceptionHandler))
                    .orElse(LOGGING);
        } catch (BeansException failure) {
            logger.error(
                    "The AsyncUncaughtExceptionHandler cannot be created; uncaught exceptions are logged instead",
                    failure);
            return LOGGING;
        }
    }

    private static <T> Optional<T> unique(BeanFactory beans, Class<T> type) {
        return Optional.ofNullable(beans.getBeanProvider(type).getIfUnique());
    }

    private static void log(String task, Throwable failure) {
        logger.error("{} failed, and no caller waits for its result", task, failure);
    }
}
