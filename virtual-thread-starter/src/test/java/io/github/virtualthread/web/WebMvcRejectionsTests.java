package io.github.virtualthread.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadDoorAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadWebMvcAutoConfiguration;
import io.github.virtualthread.limit.LimitExceededException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.MessageSourceAutoConfiguration;
import org.springframework.boot.autoconfigure.http.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.DispatcherServletAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.error.ErrorMvcAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.client.MockMvcWebTestClient;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

/** How Spring MVC answers a request whose call was rejected, or has timed out. */
class WebMvcRejectionsTests extends RejectionsContract {

    private static final AutoConfigurations OURS = AutoConfigurations.of(
            VirtualThreadAutoConfiguration.class,
            VirtualThreadDoorAutoConfiguration.class,
            VirtualThreadWebMvcAutoConfiguration.class);

    private static final WebApplicationContextRunner RUNNER = new WebApplicationContextRunner()
            .withConfiguration(OURS)
            .withConfiguration(AutoConfigurations.of(
                    DispatcherServletAutoConfiguration.class,
                    ErrorMvcAutoConfiguration.class,
                    HttpMessageConvertersAutoConfiguration.class,
                    JacksonAutoConfiguration.class,
                    MessageSourceAutoConfiguration.class,
                    WebMvcAutoConfiguration.class))
            .withUserConfiguration(MvcShop.class);

    WebMvcRejectionsTests() {
        super(RUNNER, "spring.mvc.problemdetails.enabled");
    }

    @Override
    WebTestClient client(ApplicationContext context) {
        return MockMvcWebTestClient.bindToApplicationContext((WebApplicationContext) context)
                .build();
    }

    @Override
    List<String> ways() {
        return List.of("/throws/", "/callable/", "/future/", "/deferred/");
    }

    @Override
    void assertLeftAlone(ApplicationContext context, String uri) {
        assertThat(MockMvcTester.from((WebApplicationContext) context)
                        .get()
                        .uri(uri)
                        .exchange()
                        .getUnresolvedException())
                .isNotNull();
    }

    @Override
    Class<?> ownProblemDetails() {
        return OwnProblemDetails.class;
    }

    @Override
    Class<?> problemDetailsOfOthers() {
        return ProblemDetailsOfOthers.class;
    }

    static List<Class<?>> handlers() {
        return List.of(OwnAdvice.class, AdviceForAll.class, OwnResolver.class);
    }

    static List<Class<?>> handlersOfTimeouts() {
        return List.of(AdviceForTimeouts.class, AdviceForOurTimeouts.class, AdviceForAll.class, OwnResolver.class);
    }

    @Test
    void aClientThatAsksForAnotherTypeGetsTheProblemDetailToo() {
        withProblemDetails().run(context -> client(context)
                .get()
                .uri("/throws/ITSELF")
                .accept(MediaType.TEXT_HTML)
                .exchange()
                .expectStatus()
                .isEqualTo(HttpStatus.SERVICE_UNAVAILABLE)
                .expectHeader()
                .contentType(MediaType.APPLICATION_PROBLEM_JSON));
    }

    @Test
    void aStatusOnTheApplicationsOwnExceptionComesFirst() {
        runner().run(context -> get(context, "/teapot").expectStatus().isEqualTo(HttpStatus.I_AM_A_TEAPOT));
    }

    @Test
    void anAnswerThatIsOnItsWayIsLeftAlone() {
        runner().run(context -> assertLeftAlone(context, "/committed"));
    }

    @Test
    void nothingIsThereWithoutSpringMvc() {
        new WebApplicationContextRunner()
                .withConfiguration(OURS)
                .withClassLoader(new FilteredClassLoader("org.springframework.web.servlet"))
                .withBean("handlerExceptionResolver", Object.class)
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("virtualThreadRejections"));
        new ApplicationContextRunner()
                .withConfiguration(OURS)
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
                .withConfiguration(OURS)
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(HandlerExceptionResolver.class));
    }

    @RestController
    static class MvcShop {

        @GetMapping("/callable/{rejected}")
        Callable<String> callable(@PathVariable Rejected rejected) {
            return () -> {
                throw rejected.failure;
            };
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
