package io.github.virtualthread.aop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.virtualthread.VirtualThread;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import kotlin.Unit;
import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;

/** A mailer whose methods have annotations of each kind. */
abstract class InterceptedMailer {

    static Throwable failure(Future<?> future) {
        Throwable thrown = catchThrowable(() -> future.get(120, SECONDS));
        assertThat(thrown).isInstanceOf(ExecutionException.class);
        return thrown.getCause();
    }

    static class Mailer {

        @VirtualThread
        CompletableFuture<Thread> completable() {
            return completedFuture(Thread.currentThread());
        }

        @VirtualThread
        public CompletionStage<Thread> stage() {
            return completedFuture(Thread.currentThread());
        }

        @VirtualThread
        protected Future<Thread> future() {
            return completedFuture(Thread.currentThread());
        }

        @VirtualThread
        void nothing(CountDownLatch release, BlockingQueue<Thread> threads) throws InterruptedException {
            release.await();
            threads.add(Thread.currentThread());
        }

        @VirtualThread
        Unit unit() {
            throw new IllegalStateException("fails");
        }

        @VirtualThread(name = "sender")
        CompletableFuture<Thread> named() {
            return completedFuture(Thread.currentThread());
        }

        @VirtualThread("MAIL")
        Future<Void> limited(CountDownLatch running, CountDownLatch release) throws InterruptedException {
            return held(running, release);
        }

        @VirtualThread
        Future<Void> unlimited(CountDownLatch running, CountDownLatch release) throws InterruptedException {
            return held(running, release);
        }

        @VirtualThread("none")
        Future<Void> optedOut(CountDownLatch running, CountDownLatch release) throws InterruptedException {
            return held(running, release);
        }

        @VirtualThread("${the.limit}")
        Future<Void> configured(CountDownLatch running, CountDownLatch release) throws InterruptedException {
            return held(running, release);
        }

        Future<Void> held(CountDownLatch running, CountDownLatch release) throws InterruptedException {
            running.countDown();
            release.await();
            return completedFuture(null);
        }

        @VirtualThread
        Future<Void> failing(Callable<?> body) throws Exception {
            body.call();
            return completedFuture(null);
        }

        @VirtualThread
        Future<Void> sneaky(Callable<?> body) {
            try {
                body.call();
                return completedFuture(null);
            } catch (Exception failure) {
                throw Mailer.<RuntimeException>hidden(failure);
            }
        }

        @SuppressWarnings("unchecked")
        static <T extends Throwable> T hidden(Throwable failure) throws T {
            throw (T) failure;
        }

        @VirtualThread("mail")
        void broken(String argument) {
            throw new IllegalStateException("no " + argument);
        }
    }

    static class Handler implements AsyncUncaughtExceptionHandler {

        final BlockingQueue<String> failures = new LinkedBlockingQueue<>();

        @Override
        public void handleUncaughtException(Throwable ex, Method method, Object... params) {
            String arguments = params.length == 0 ? "" : Arrays.toString(params);
            failures.add(method.getName() + arguments + " " + ex.getMessage());
        }

        String failure() throws InterruptedException {
            return failures.poll(120, SECONDS);
        }
    }
}
