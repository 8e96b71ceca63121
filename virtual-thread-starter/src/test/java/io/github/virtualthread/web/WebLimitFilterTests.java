package io.github.virtualthread.web;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServletRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

/** Each way to answer a request, on Tomcat: the request holds one permit until its answer is complete, and not longer. */
@Timeout(300)
@Tag("slow")
class WebLimitFilterTests {

    @ParameterizedTest
    @CsvSource({
        "/plain, 200",
        "/failing, 500",
        "/error-of-the-jvm, 500",
        "/absent, 404",
        "/deferred/done, 200",
        "/deferred/failed, 500",
        "/deferred/timeout, 503",
        "/future/failed, 500",
        "/callable/failed, 500",
        "/task/timeout, 200",
        "/raw/throwing, 500",
        "/raw/timeout, 500",
        "/raw/complete, 200",
        "/raw/twice, 200",
        "/raw/dispatched, 200"
    })
    void thePermitIsBackAfterTheAnswer(String path, int status) {
        DoorApplication.run(Answers.class, context -> {
            DoorApplication it = new DoorApplication(context);

            assertThat(it.get(path).statusCode()).isEqualTo(status);
            it.awaitFree();
            assertThat(it.limit().completed()).isOne();
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"/held", "/deferred", "/future", "/callable", "/task", "/stream", "/sse", "/emitter", "/raw"})
    void thePermitIsHeldUntilTheAnswerIsComplete(String path) {
        DoorApplication.run(Answers.class, context -> {
            DoorApplication it = new DoorApplication(context);
            Answers answers = context.getBean(Answers.class);

            CompletableFuture<HttpResponse<String>> answer = it.ask(path);
            assertThat(answers.begun.await(2, MINUTES)).isTrue();
            assertThat(it.limit().inUse()).isOne();
            assertThat(answer).isNotDone();
            answers.end.countDown();

            assertThat(answer.get(2, MINUTES).statusCode()).isEqualTo(200);
            it.awaitFree();
            assertThat(it.limit().completed()).isOne();
        });
    }

    @RestController
    static class Answers {

        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch end = new CountDownLatch(1);

        private String end() throws InterruptedException {
            begun.countDown();
            assertThat(end.await(2, MINUTES)).isTrue();
            return "done";
        }

        /** Spring interrupts a task that has run too long. */
        private String endStubbornly() {
            while (true) {
                try {
                    return end();
                } catch (InterruptedException tooLong) {
                    // the callback of the timeout ends it
                }
            }
        }

        private void later(Ending ending) {
            Thread.startVirtualThread(() -> {
                try {
                    end();
                    ending.run();
                } catch (Exception failure) {
                    throw new IllegalStateException(failure);
                }
            });
        }

        private interface Ending {
            void run() throws Exception;
        }

        @GetMapping("/plain")
        String plain() {
            return "plain";
        }

        @GetMapping("/failing")
        String failing() {
            throw new IllegalStateException("expected");
        }

        @GetMapping("/error-of-the-jvm")
        String error() {
            throw new StackOverflowError("expected");
        }

        @GetMapping("/held")
        String held() throws InterruptedException {
            return end();
        }

        @GetMapping("/deferred")
        DeferredResult<String> deferred() {
            DeferredResult<String> result = new DeferredResult<>();
            later(() -> result.setResult("done"));
            return result;
        }

        @GetMapping("/deferred/done")
        DeferredResult<String> deferredDone() {
            DeferredResult<String> result = new DeferredResult<>();
            result.setResult("done");
            return result;
        }

        @GetMapping("/deferred/failed")
        DeferredResult<String> deferredFailed() {
            DeferredResult<String> result = new DeferredResult<>();
            result.setErrorResult(new IllegalStateException("expected"));
            return result;
        }

        @GetMapping("/deferred/timeout")
        DeferredResult<String> deferredTimeout() {
            return new DeferredResult<>(1L);
        }

        @GetMapping("/future")
        CompletableFuture<String> future() {
            CompletableFuture<String> future = new CompletableFuture<>();
            later(() -> future.complete("done"));
            return future;
        }

        @GetMapping("/future/failed")
        CompletableFuture<String> futureFailed() {
            return CompletableFuture.failedFuture(new IllegalStateException("expected"));
        }

        @GetMapping("/callable")
        Callable<String> callable() {
            return this::end;
        }

        @GetMapping("/callable/failed")
        Callable<String> callableFailed() {
            return () -> {
                throw new IllegalStateException("expected");
            };
        }

        @GetMapping("/task")
        WebAsyncTask<String> task() {
            return new WebAsyncTask<>(120_000L, this::end);
        }

        @GetMapping("/task/timeout")
        WebAsyncTask<String> taskTimeout() {
            WebAsyncTask<String> task = new WebAsyncTask<>(1L, this::endStubbornly);
            task.onTimeout(() -> {
                end.countDown();
                return "late";
            });
            return task;
        }

        @GetMapping("/stream")
        StreamingResponseBody stream() {
            return out -> {
                try {
                    out.write(end().getBytes());
                } catch (InterruptedException interruption) {
                    throw new IllegalStateException(interruption);
                }
            };
        }

        @GetMapping("/sse")
        SseEmitter sse() {
            SseEmitter emitter = new SseEmitter();
            later(() -> {
                emitter.send("event");
                emitter.complete();
            });
            return emitter;
        }

        @GetMapping("/emitter")
        ResponseBodyEmitter emitter() {
            ResponseBodyEmitter emitter = new ResponseBodyEmitter();
            later(() -> {
                emitter.send("part");
                emitter.complete();
            });
            return emitter;
        }

        @GetMapping("/raw")
        void raw(HttpServletRequest request) {
            AsyncContext exchange = request.startAsync();
            later(exchange::complete);
        }

        @GetMapping("/raw/complete")
        void rawComplete(HttpServletRequest request) {
            request.startAsync().complete();
        }

        @GetMapping("/raw/throwing")
        void rawThrowing(HttpServletRequest request) {
            request.startAsync();
            throw new IllegalStateException("expected");
        }

        @GetMapping("/raw/timeout")
        void rawTimeout(HttpServletRequest request) {
            request.startAsync().setTimeout(1);
        }

        @GetMapping("/raw/dispatched")
        void rawDispatched(HttpServletRequest request) {
            request.startAsync().dispatch("/plain");
        }

        /** The second cycle begins in the dispatch that ends the first. */
        @GetMapping("/raw/twice")
        void rawTwice(HttpServletRequest request) {
            request.startAsync().dispatch("/raw/complete");
        }
    }
}
