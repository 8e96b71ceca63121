package io.github.virtualthread.web;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadWebAutoConfiguration;
import io.github.virtualthread.limit.LimitExceededException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
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

/** How Spring MVC answers a request whose call was rejected. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class WebMvcRejectionsTests {

    private static final CountDownLatch OPEN = new CountDownLatch(0);

    private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class,
                    VirtualThreadWebAutoConfiguration.class,
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
                "OF_A_KEY"
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

        withProblemDetails
                .withBean("messageSource", MessageSource.class, () -> messages)
                .run(context -> assertThat(MockMvcTester.from(context)
                                .get()
                                .uri("/throws/ITSELF")
                                .locale(Locale.GERMAN)
                                .exchange())
                        .bodyJson()
                        .extractingPath("$.detail")
                        .isEqualTo("Bitte warten."));
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
        AutoConfigurations ours =
                AutoConfigurations.of(VirtualThreadAutoConfiguration.class, VirtualThreadWebAutoConfiguration.class);
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
                .withConfiguration(
                        AutoConfigurations.of(VirtualThreadWebAutoConfiguration.class, WebMvcAutoConfiguration.class))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(WebMvcRejections.class));
    }

    @Test
    void aServletWithoutResolverBeansKeepsItsDefaults() {
        new WebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        VirtualThreadAutoConfiguration.class, VirtualThreadWebAutoConfiguration.class))
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

    static class Prices {

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
