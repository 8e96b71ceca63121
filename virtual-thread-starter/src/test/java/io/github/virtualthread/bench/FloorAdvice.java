package io.github.virtualthread.bench;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.springframework.core.task.TaskDecorator;

/** The least that any proxy can do to run a method on a virtual thread. */
final class FloorAdvice implements MethodInterceptor {

    private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
    private final TaskDecorator decorator;

    FloorAdvice(TaskDecorator decorator) {
        this.decorator = decorator;
    }

    @Override
    public Object invoke(MethodInvocation invocation) {
        CompletableFuture<Object> future = new CompletableFuture<>();
        executor.execute(decorator.decorate(() -> {
            try {
                future.complete(((Future<?>) invocation.proceed()).get());
            } catch (Throwable failure) {
                future.completeExceptionally(failure);
            }
        }));
        return future;
    }
}
