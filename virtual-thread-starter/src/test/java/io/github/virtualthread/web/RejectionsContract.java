package io.github.virtualthread.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.execution.LiveCalls;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.limit.CallTimeoutException;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.Occupation;
import io.github.virtualthread.limit.TaskLimits;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.AbstractApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.MessageSource;
import org.springframework.context.support.StaticMessageSource;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.json.JsonCompareMode;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.test.web.reactive.server.WebTestClient.ResponseSpec;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * How a request is answered whose call was rejected, or has timed out: what Spring MVC and WebFlux have in common. A subclass
 * also has static methods {@code handlers} and {@code handlersOfTimeouts}, the classes by which an application may answer itself.
 */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
abstract class RejectionsContract {

    private final AbstractApplicationContextRunner<?, ?, ?> runner;
    private final AbstractApplicationContextRunner<?, ?, ?> withProblemDetails;

    RejectionsContract(AbstractApplicationContextRunner<?, ?, ?> runner, String problemDetails) {
        this.runner = runner.withUserConfiguration(Shop.class, Prices.class)
                .withPropertyValues("virtual-thread.limits.db.permits=1", "virtual-thread.limits.db.queue-capacity=0");
        this.withProblemDetails = this.runner.withPropertyValues(problemDetails + "=true");
    }

    final AbstractApplicationContextRunner<?, ?, ?> runner() {
        return runner;
    }

    final AbstractApplicationContextRunner<?, ?, ?> withProblemDetails() {
        return withProblemDetails;
    }

    abstract WebTestClient client(ApplicationContext context);

    /** In which a handler may fail: the first parts of the paths. */
    abstract List<String> ways();

    /** Asserts that nothing of ours has answered. */
    abstract void assertLeftAlone(ApplicationContext context, String uri);

    /** Advice that writes problem details. */
    abstract Class<?> ownProblemDetails();

    /** The same for controllers that have no part in the test. */
    abstract Class<?> problemDetailsOfOthers();

    @ParameterizedTest
    @MethodSource("io.github.virtualthread.web.Rejected#rejections")
    void aRejectionIsAnswered503WithRetryAfterAndWithoutABody(Rejected rejected) {
        runner.run(context -> ways().forEach(way -> assertUnavailable(get(context, way + rejected))));
    }

    @ParameterizedTest
    @MethodSource("io.github.virtualthread.web.Rejected#timeouts")
    void aTimeoutIsAnswered503WithoutRetryAfterAndWithoutABody(Rejected timedOut) {
        runner.run(context -> ways().forEach(way -> assertTimedOut(get(context, way + timedOut), 503)));
    }

    @ParameterizedTest
    @MethodSource("io.github.virtualthread.web.Rejected#others")
    void anyOtherFailureIsLeftAlone(Rejected other) {
        // Spring answers with the cause of what a future failed with, and one of these has none
        List<String> ways =
                ways().stream().filter(way -> !way.equals("/future/")).toList();
        runner.run(context -> ways.forEach(way -> assertLeftAlone(context, way + other)));
    }

    @Test
    void aFullLimitIsAnswered503AndTheNextRequestAsEver() {
        runner.run(context -> {
            TaskLimit limit = context.getBean(TaskLimits.class).get("db");
            try (Occupation occupation = limit.occupy()) {
                assertUnavailable(get(context, "/price"));
                assertUnavailable(get(context, "/limited"));
            }

            assertBody(get(context, "/price"), "7");
            assertBody(get(context, "/limited"), "0 permits left");
            assertThat(limit.available()).isOne();
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"future", "get", "join"})
    void aCallThatRunsTooLongIsAnswered503AndLeavesOneLine(String how, CapturedOutput output) {
        runner.run(context -> {
            try {
                assertTimedOut(get(context, "/late/" + how), 503);
            } finally {
                context.getBean(Prices.class).endLate();
            }
        });

        assertThat(output.getAll().lines().filter(line -> line.contains("timed out") || line.contains("WARN")))
                .singleElement()
                .asString()
                .contains(
                        "WARN",
                        "Prices.late has timed out in a call: Prices.late ran longer than its timeout of 0.01s under"
                                + " limit 'db' and was interrupted");
        assertThat(output).doesNotContain("\tat ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"future", "get", "join"})
    void aCallThatAnOperatorCancelsIsAnswered503WithoutATrace(String how, CapturedOutput output) {
        runner.run(context -> {
            Prices prices = context.getBean(Prices.class);
            LiveCalls live = context.getBean(TaskEngine.class).liveCalls();
            Thread operator = Thread.ofPlatform().start(() -> {
                prices.awaitEndless();
                live.cancel(live.running().getFirst().call().id());
            });

            assertTimedOut(get(context, "/endless/" + how), 503);
            operator.join();
        });

        assertThat(output).doesNotContain("ERROR").doesNotContain("\tat ");
    }

    @Test
    void statusAndHeaderAreProperties() {
        with("rejected-status=429", "retry-after=1500ms")
                .run(context -> assertAnswer(get(context, "/throws/ITSELF"), 429, "2"));
        with("rejected-status=599", "retry-after=0s")
                .run(context -> assertAnswer(get(context, "/throws/ITSELF"), 599, null));
        with("rejected-status=", "retry-after=").run(context -> assertUnavailable(get(context, "/throws/ITSELF")));
    }

    @Test
    void theStatusOfTimeoutsIsAPropertyOfItsOwn() {
        with("timed-out-status=504", "rejected-status=none").run(context -> {
            assertTimedOut(get(context, "/throws/TIMED_OUT"), 504);
            assertLeftAlone(context, "/throws/ITSELF");
        });
        with("timed-out-status=").run(context -> assertTimedOut(get(context, "/throws/TIMED_OUT"), 503));
        with("timed-out-status=none").run(context -> {
            assertLeftAlone(context, "/throws/TIMED_OUT");
            assertUnavailable(get(context, "/throws/ITSELF"));
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "None", " none "})
    void noneLeavesRejectionsToTheApplication(String none) {
        with("rejected-status=" + none).run(context -> assertLeftAlone(context, "/throws/ITSELF"));
    }

    private AbstractApplicationContextRunner<?, ?, ?> with(String... properties) {
        return runner.withPropertyValues(Stream.of(properties)
                .map(property -> "virtual-thread.web." + property)
                .toArray(String[]::new));
    }

    @ParameterizedTest
    @MethodSource("handlers")
    void theApplicationsOwnHandlerComesFirst(Class<?> handler) {
        assertTeapot(handler, "/future/IN_COMPLETION");
    }

    @ParameterizedTest
    @MethodSource("handlersOfTimeouts")
    void theApplicationsOwnHandlerOfTimeoutsComesFirst(Class<?> handler) {
        assertTeapot(handler, "/future/TIMED_OUT_IN_BOTH");
    }

    private void assertTeapot(Class<?> handler, String uri) {
        withProblemDetails
                .withUserConfiguration(handler)
                .run(context -> get(context, uri).expectStatus().isEqualTo(HttpStatus.I_AM_A_TEAPOT));
    }

    @Test
    void aProblemDetailIsTheBodyWhereTheseAreOn() {
        withProblemDetails.run(context -> ways().forEach(way -> {
            String uri = way + Rejected.IN_BOTH;
            assertProblem(get(context, uri)).expectBody().json("""
                    {
                      "type": "about:blank",
                      "title": "Service Unavailable",
                      "status": 503,
                      "detail": "The request cannot be served now. Try again in 1 s.",
                      "instance": "%s"
                    }
                    """.formatted(uri), JsonCompareMode.STRICT);
        }));
    }

    @Test
    void withoutRetryAfterTheDetailNamesNoTime() {
        withProblemDetails
                .withPropertyValues("virtual-thread.web.retry-after=0s")
                .run(context -> {
                    ResponseSpec answer = get(context, "/throws/ITSELF");
                    assertAnswer(answer, 503, null);
                    assertDetail(answer, "The request cannot be served now. Try again later.");
                });
    }

    @Test
    void theDetailOfATimeoutIsAnother() {
        withProblemDetails.run(context -> {
            ResponseSpec answer = get(context, "/throws/TIMED_OUT");
            assertAnswer(answer, 503, null);
            assertDetail(answer, "The request took too long.");
        });
    }

    @Test
    void theDetailIsTranslated() {
        StaticMessageSource messages = new StaticMessageSource();
        messages.addMessage("problemDetail." + LimitExceededException.class.getName(), Locale.GERMAN, "Bitte warten.");
        messages.addMessage("problemDetail." + CallTimeoutException.class.getName(), Locale.GERMAN, "Zu langsam.");

        withProblemDetails
                .withBean("messageSource", MessageSource.class, () -> messages)
                .run(context -> {
                    assertDetail(inGerman(context, "/throws/ITSELF"), "Bitte warten.");
                    assertDetail(inGerman(context, "/throws/TIMED_OUT"), "Zu langsam.");
                });
    }

    private ResponseSpec inGerman(ApplicationContext context, String uri) {
        return client(context)
                .get()
                .uri(uri)
                .header(HttpHeaders.ACCEPT_LANGUAGE, "de")
                .exchange();
    }

    @Test
    void theApplicationsOwnProblemDetailsAreTheBody() {
        runner.withUserConfiguration(ownProblemDetails())
                .run(context -> assertProblem(get(context, "/throws/IN_BOTH")));
    }

    @Test
    void problemDetailsOfOtherControllersLeaveNoBodyAndNoLog(CapturedOutput output) {
        runner.withUserConfiguration(problemDetailsOfOthers())
                .run(context -> assertUnavailable(get(context, "/throws/ITSELF")));

        assertThat(output).doesNotContain("WARN").doesNotContain("ERROR");
    }

    final ResponseSpec get(ApplicationContext context, String uri) {
        return client(context).get().uri(uri).exchange();
    }

    static void assertUnavailable(ResponseSpec answer) {
        assertAnswer(answer, 503, "1");
        assertNoBody(answer);
    }

    private static void assertTimedOut(ResponseSpec answer, int status) {
        assertAnswer(answer, status, null);
        assertNoBody(answer);
    }

    private static ResponseSpec assertProblem(ResponseSpec answer) {
        assertAnswer(answer, 503, "1");
        return answer.expectHeader().contentType(MediaType.APPLICATION_PROBLEM_JSON);
    }

    private static void assertAnswer(ResponseSpec answer, int status, String retryAfter) {
        answer.expectStatus().isEqualTo(status);
        if (retryAfter == null) {
            answer.expectHeader().doesNotExist(HttpHeaders.RETRY_AFTER);
        } else {
            answer.expectHeader().valueEquals(HttpHeaders.RETRY_AFTER, retryAfter);
        }
    }

    private static void assertNoBody(ResponseSpec answer) {
        answer.expectHeader()
                .doesNotExist(HttpHeaders.CONTENT_TYPE)
                .expectBody()
                .isEmpty();
    }

    private static void assertBody(ResponseSpec answer, String body) {
        answer.expectStatus().isOk().expectBody(String.class).isEqualTo(body);
    }

    private static void assertDetail(ResponseSpec answer, String detail) {
        answer.expectBody().jsonPath("$.detail").isEqualTo(detail);
    }

    @RestControllerAdvice
    static class OwnAdvice {

        @ExceptionHandler(LimitExceededException.class)
        @ResponseStatus(HttpStatus.I_AM_A_TEAPOT)
        void busy() {}
    }

    @RestControllerAdvice
    static class AdviceForTimeouts {

        @ExceptionHandler(TimeoutException.class)
        @ResponseStatus(HttpStatus.I_AM_A_TEAPOT)
        void late() {}
    }

    @RestControllerAdvice
    static class AdviceForOurTimeouts {

        @ExceptionHandler(CallTimeoutException.class)
        @ResponseStatus(HttpStatus.I_AM_A_TEAPOT)
        void late() {}
    }

    @ControllerAdvice
    static class AdviceForAll {

        @ExceptionHandler(Exception.class)
        @ResponseStatus(HttpStatus.I_AM_A_TEAPOT)
        void failed() {}
    }
}
