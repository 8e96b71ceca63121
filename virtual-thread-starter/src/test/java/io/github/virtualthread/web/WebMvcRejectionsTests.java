package io.github.virtualthread.web;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadDoorAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadWebMvcAutoConfiguration;
import io.github.virtualthread.limit.CallTimeoutException;
import io.github.virtualthread.limit.LimitExceededException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.MessageSourceAutoConfiguration;
import org.springframework.boot.autoconfigure.http.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.DispatcherServletAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.error.ErrorMvcAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.MessageSource;
import org.springframework.context.support.StaticMessageSource;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;
import org.springframework.test.web.servlet.assertj.MvcTestResultAssert;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

/** How Spring MVC answers a request whose call was rejected, or has timed out. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class WebMvcRejectionsTests {

    private static final CountDownLatch OPEN = new CountDownLatch(0);

    private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class,
                    VirtualThreadDoorAutoConfiguration.class,
                    VirtualThreadWebMvcAutoConfiguration.class,
                    DispatcherServletAutoConfiguration.class,
                    ErrorMvcAutoConfiguration.class,
                    HttpMessageConvertersAutoConfiguration.class,
                    JacksonAutoConfiguration.class,
                    MessageSourceAutoConfiguration.class,
                    WebMvcAutoConfiguration.class))
            .withBean(Shop.class)
            .withBean(Prices.class)
            .withPropertyValues("virtual-thread.limits.db.permits=1", "virtual-thread.limits.db.queue-capacity=0");

    private final WebApplicationContextRunner withProblemDetails =
            runner.withPropertyValues("spring.mvc.problemdetails.enabled=true");

    @ParameterizedTest
    @EnumSource(
            names = {
                "ITSELF",
                "IN_COMPLETION",
                "IN_EXECUTION",
                "IN_BOTH",
                "OF_A_SUBCLASS",
                "WITHOUT_A_LEASE",
                "OF_A_KEY"
            })
    void aRejectionIsAnswered503WithRetryAfterAndWithoutABody(Rejected rejected) {
        runner.run(context -> {
            assertUnavailable(get(context, "/throws/" + rejected));
            assertUnavailable(get(context, "/callable/" + rejected));
            assertUnavailable(get(context, "/future/" + rejected));
            assertUnavailable(get(context, "/deferred/" + rejected));
        });
    }

    @ParameterizedTest
    @EnumSource(
            mode = Mode.EXCLUDE,
            names = {
                "ITSELF",
                "IN_COMPLETION",
                "IN_EXECUTION",
                "IN_BOTH",
                "OF_A_SUBCLASS",
                "WITHOUT_A_LEASE",
                "OF_A_KEY",
                "TIMED_OUT",
                "TIMED_OUT_IN_BOTH"
            })
    void anyOtherFailureIsLeftAlone(Rejected other) {
        runner.run(context -> {
            assertUnanswered(get(context, "/throws/" + other));
            assertUnanswered(get(context, "/deferred/" + other));
        });
    }

    @Test
    void aFullLimitIsAnswered503AndTheNextRequestAsEver() {
        runner.run(context -> {
            CountDownLatch started = new CountDownLatch(1);
            CountDownLatch gate = new CountDownLatch(1);
            CompletableFuture<String> held = context.getBean(Prices.class).find(started, gate);
            assertThat(started.await(2, MINUTES)).isTrue();

            assertUnavailable(get(context, "/price")).failure().isInstanceOf(LimitExceededException.class);

            gate.countDown();
            assertThat(held).succeedsWithin(2, MINUTES);
            assertThat(get(context, "/price")).hasStatusOk().hasBodyTextEqualTo("7");
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"TIMED_OUT", "TIMED_OUT_IN_BOTH"})
    void aTimeoutIsAnswered503WithoutRetryAfterAndWithoutABody(Rejected timedOut) {
        runner.run(context -> {
            for (String how : List.of("throws", "callable", "future", "deferred")) {
                assertTimedOut(get(context, "/%s/%s".formatted(how, timedOut)), 503);
            }
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

    @Test
    void theStatusOfTimeoutsIsAPropertyOfItsOwn() {
        with("timed-out-status=504", "rejected-status=none").run(context -> {
            assertTimedOut(get(context, "/throws/TIMED_OUT"), 504);
            assertUnanswered(get(context, "/throws/ITSELF"));
        });
        with("timed-out-status=").run(context -> assertTimedOut(get(context, "/throws/TIMED_OUT"), 503));
        with("timed-out-status=none").run(context -> {
            assertUnanswered(get(context, "/throws/TIMED_OUT"));
            assertUnavailable(get(context, "/throws/ITSELF"));
        });
    }

    @ParameterizedTest
    @ValueSource(classes = {AdviceForTimeouts.class, AdviceForOurTimeouts.class, AdviceForAll.class, OwnResolver.class})
    void theApplicationsOwnHandlerOfTimeoutsComesFirst(Class<?> handler) {
        withProblemDetails.withUserConfiguration(handler).run(context -> assertThat(
                        get(context, "/future/TIMED_OUT_IN_BOTH"))
                .hasStatus(HttpStatus.I_AM_A_TEAPOT));
    }

    @Test
    void statusAndHeaderAreProperties() {
        with("rejected-status=429", "retry-after=1500ms").run(context -> assertThat(get(context, "/throws/ITSELF"))
                .hasStatus(429)
                .hasHeader(HttpHeaders.RETRY_AFTER, "2"));
        with("rejected-status=599", "retry-after=0s").run(context -> assertThat(get(context, "/throws/ITSELF"))
                .hasStatus(599)
                .doesNotContainHeader(HttpHeaders.RETRY_AFTER));
        with("rejected-status=", "retry-after=").run(context -> assertUnavailable(get(context, "/throws/ITSELF")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "None", " none "})
    void noneLeavesRejectionsToTheApplication(String none) {
        with("rejected-status=" + none).run(context -> assertUnanswered(get(context, "/throws/ITSELF")));
    }

    private WebApplicationContextRunner with(String... properties) {
        WebApplicationContextRunner with = runner;
        for (String property : properties) {
            with = with.withPropertyValues("virtual-thread.web." + property);
        }
        return with;
    }

    @Test
    void aProblemDetailIsTheBodyWhereTheseAreOn() {
        withProblemDetails.run(context -> {
            MvcTestResult answer = get(context, "/future/ITSELF");

            assertThat(answer)
                    .hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
                    .hasHeader(HttpHeaders.RETRY_AFTER, "1")
                    .hasContentType(MediaType.APPLICATION_PROBLEM_JSON)
                    .bodyJson()
                    .isStrictlyEqualTo("""
                            {
                              "type": "about:blank",
                              "title": "Service Unavailable",
                              "status": 503,
                              "detail": "The request cannot be served now. Try again in 1 s.",
                              "instance": "/future/ITSELF"
                            }
                            """);
        });
        withProblemDetails
                .withPropertyValues("virtual-thread.web.retry-after=0s")
                .run(context -> assertThat(get(context, "/throws/ITSELF"))
                        .doesNotContainHeader(HttpHeaders.RETRY_AFTER)
                        .bodyJson()
                        .extractingPath("$.detail")
                        .isEqualTo("The request cannot be served now. Try again later."));
        withProblemDetails.run(context -> assertThat(get(context, "/throws/TIMED_OUT"))
                .hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
                .doesNotContainHeader(HttpHeaders.RETRY_AFTER)
                .bodyJson()
                .extractingPath("$.detail")
                .isEqualTo("The request took too long."));
    }

    @Test
    void aClientThatAsksForAnotherTypeGetsTheProblemDetailToo() {
        withProblemDetails.run(context -> assertThat(MockMvcTester.from(context)
                        .get()
                        .uri("/throws/ITSELF")
                        .accept(MediaType.TEXT_HTML)
                        .exchange())
                .hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
                .hasContentType(MediaType.APPLICATION_PROBLEM_JSON));
    }

    @Test
    void theApplicationsOwnProblemDetailsAreTheBody() {
        runner.withBean(OwnProblemDetails.class).run(context -> assertThat(get(context, "/throws/IN_BOTH"))
                .hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
                .hasHeader(HttpHeaders.RETRY_AFTER, "1")
                .hasContentType(MediaType.APPLICATION_PROBLEM_JSON));
    }

    @Test
    void theDetailIsTranslated() {
        StaticMessageSource messages = new StaticMessageSource();
        messages.addMessage("problemDetail." + LimitExceededException.class.getName(), Locale.GERMAN, "Bitte warten.");
        messages.addMessage("problemDetail." + CallTimeoutException.class.getName(), Locale.GERMAN, "Zu langsam.");

        withProblemDetails
                .withBean("messageSource", MessageSource.class, () -> messages)
                .run(context -> {
                    assertThat(germanDetail(context, "/throws/ITSELF")).isEqualTo("Bitte warten.");
                    assertThat(germanDetail(context, "/throws/TIMED_OUT")).isEqualTo("Zu langsam.");
                });
    }

    private static Object germanDetail(AssertableWebApplicationContext context, String uri) throws Exception {
        MvcTestResult answer =
                MockMvcTester.from(context).get().uri(uri).locale(Locale.GERMAN).exchange();
        return JsonPath.read(answer.getResponse().getContentAsString(), "$.detail");
    }

    @Test
    void problemDetailsOfOtherControllersLeaveNoBodyAndNoLog(CapturedOutput output) {
        runner.withBean(ProblemDetailsOfOthers.class).run(context -> assertUnavailable(get(context, "/throws/ITSELF")));

        assertThat(output).doesNotContain("WARN").doesNotContain("ERROR");
    }

    @ParameterizedTest
    @ValueSource(classes = {OwnAdvice.class, AdviceForAll.class, OwnResolver.class})
    void theApplicationsOwnHandlerComesFirst(Class<?> handler) {
        withProblemDetails.withUserConfiguration(handler).run(context -> assertThat(
                        get(context, "/future/IN_COMPLETION"))
                .hasStatus(HttpStatus.I_AM_A_TEAPOT));
    }

    @Test
    void aStatusOnTheApplicationsOwnExceptionComesFirst() {
        runner.run(context -> assertThat(get(context, "/teapot")).hasStatus(HttpStatus.I_AM_A_TEAPOT));
    }

    @Test
    void anAnswerThatIsOnItsWayIsLeftAlone() {
        runner.run(context -> assertUnanswered(get(context, "/committed")));
    }

    @Test
    void nothingIsThereWithoutSpringMvc() {
        AutoConfigurations ours = AutoConfigurations.of(
                VirtualThreadAutoConfiguration.class,
                VirtualThreadDoorAutoConfiguration.class,
                VirtualThreadWebMvcAutoConfiguration.class);
        new WebApplicationContextRunner()
                .withConfiguration(ours)
                .withClassLoader(new FilteredClassLoader("org.springframework.web.servlet"))
                .withBean("handlerExceptionResolver", Object.class)
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("virtualThreadRejections"));
        new ApplicationContextRunner()
                .withConfiguration(ours)
                .withBean("handlerExceptionResolver", Object.class)
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("virtualThreadRejections"));
    }

    @Test
    void nothingIsThereWithoutTheRestOfTheStarter() {
        new WebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        VirtualThreadDoorAutoConfiguration.class,
                        VirtualThreadWebMvcAutoConfiguration.class,
                        WebMvcAutoConfiguration.class))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(WebMvcRejections.class));
    }

    @Test
    void aServletWithoutResolverBeansKeepsItsDefaults() {
        new WebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        VirtualThreadAutoConfiguration.class,
                        VirtualThreadDoorAutoConfiguration.class,
                        VirtualThreadWebMvcAutoConfiguration.class))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(HandlerExceptionResolver.class));
    }

    private static MvcTestResult get(AssertableWebApplicationContext context, String uri) {
        return MockMvcTester.from(context).get().uri(uri).exchange();
    }

    private static void assertUnanswered(MvcTestResult answer) {
        assertThat(answer.getUnresolvedException()).isNotNull();
    }

    private static MvcTestResultAssert assertUnavailable(MvcTestResult answer) {
        return assertThat(answer)
                .hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
                .hasHeader(HttpHeaders.RETRY_AFTER, "1")
                .doesNotContainHeader(HttpHeaders.CONTENT_TYPE)
                .hasBodyTextEqualTo("");
    }

    private static void assertTimedOut(MvcTestResult answer, int status) {
        assertThat(answer)
                .hasStatus(status)
                .doesNotContainHeader(HttpHeaders.RETRY_AFTER)
                .doesNotContainHeader(HttpHeaders.CONTENT_TYPE)
                .hasBodyTextEqualTo("");
    }

    static class Prices {

        private final Semaphore late = new Semaphore(0);

        /** Does not react to the interrupt: the log comes before the end of the call, and not beside it. */
        @VirtualThread(limit = "db", timeout = "10ms")
        CompletableFuture<String> late() {
            late.acquireUninterruptibly();
            return CompletableFuture.completedFuture("too late");
        }

        void endLate() {
            late.release();
        }

        @VirtualThread("db")
        CompletableFuture<String> find(CountDownLatch started, CountDownLatch gate) throws InterruptedException {
            started.countDown();
            gate.await();
            return CompletableFuture.completedFuture("7");
        }
    }

    @RestController
    static class Shop {

        private final Prices prices;

        Shop(Prices prices) {
            this.prices = prices;
        }

        @GetMapping("/price")
        CompletableFuture<String> price() throws InterruptedException {
            return prices.find(OPEN, OPEN).thenApply(String::strip);
        }

        @GetMapping("/late/future")
        CompletableFuture<String> late() {
            return prices.late().thenApply(String::strip);
        }

        @GetMapping("/late/get")
        String lateGet() throws Exception {
            return prices.late().get();
        }

        @GetMapping("/late/join")
        String lateJoin() {
            return late().join();
        }

        @GetMapping("/throws/{rejected}")
        String failing(@PathVariable Rejected rejected) throws Exception {
            throw rejected.failure;
        }

        @GetMapping("/callable/{rejected}")
        Callable<String> callable(@PathVariable Rejected rejected) {
            return () -> failing(rejected);
        }

        @GetMapping("/future/{rejected}")
        CompletableFuture<String> future(@PathVariable Rejected rejected) {
            return CompletableFuture.<String>failedFuture(rejected.failure).thenApply(String::strip);
        }

        @GetMapping("/deferred/{rejected}")
        DeferredResult<String> deferred(@PathVariable Rejected rejected) {
            DeferredResult<String> result = new DeferredResult<>();
            result.setErrorResult(rejected.failure);
            return result;
        }

        @GetMapping("/teapot")
        String teapot() {
            throw new Teapot();
        }

        @GetMapping("/committed")
        void committed(HttpServletResponse response) throws Exception {
            response.flushBuffer();
            throw Rejected.ITSELF.failure;
        }
    }

    @ResponseStatus(HttpStatus.I_AM_A_TEAPOT)
    static class Teapot extends LimitExceededException {

        private static final long serialVersionUID = 1L;

        Teapot() {
            super("Tea.make", null, Reason.SHUTDOWN);
        }
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

    static class OwnResolver implements HandlerExceptionResolver {

        @Override
        public ModelAndView resolveException(
                HttpServletRequest request, HttpServletResponse response, Object handler, Exception failure) {
            response.setStatus(HttpStatus.I_AM_A_TEAPOT.value());
            return new ModelAndView();
        }
    }

    @ControllerAdvice
    static class OwnProblemDetails extends ResponseEntityExceptionHandler {}

    @ControllerAdvice(assignableTypes = Prices.class)
    static class ProblemDetailsOfOthers extends ResponseEntityExceptionHandler {}
}
