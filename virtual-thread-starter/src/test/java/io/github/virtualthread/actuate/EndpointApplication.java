package io.github.virtualthread.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.delete;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;

import com.jayway.jsonpath.DocumentContext;
import com.jayway.jsonpath.JsonPath;
import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.autoconfigure.VirtualThreadActuatorAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.jackson.JacksonEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementContextAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.servlet.ServletManagementContextAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.http.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.DispatcherServletAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration;
import org.springframework.boot.convert.ApplicationConversionService;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.http.MediaType;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.request.MockHttpServletRequestBuilder;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.context.WebApplicationContext;

/** An application with a web server in thought, a limit {@code price-db} of one permit, and what a test asks of it. */
public final class EndpointApplication {

    static final String PATH = "/actuator/virtualthreads";

    private final WebApplicationContext context;
    private final MockMvc http;
    final Shop shop;
    final VirtualThreads byHand;
    final CountDownLatch gate = new CountDownLatch(1);

    private EndpointApplication(WebApplicationContext context) {
        this.context = context;
        this.http = MockMvcBuilders.webAppContextSetup(context).build();
        this.shop = context.getBean(Shop.class);
        this.byHand = context.getBean(VirtualThreads.class);
    }

    /** With the endpoint exposed, and open for writing. */
    static WebApplicationContextRunner open() {
        return exposed().withPropertyValues("management.endpoint.virtualthreads.access=unrestricted");
    }

    static WebApplicationContextRunner exposed() {
        return runner().withPropertyValues("management.endpoints.web.exposure.include=*");
    }

    static WebApplicationContextRunner runner() {
        return web().withPropertyValues(
                        "virtual-thread.limits.price-db.permits=1",
                        "virtual-thread.shutdown.await-termination-period=0s")
                .withBean(Shop.class);
    }

    /** Nothing but what serves the endpoint over HTTP. */
    public static WebApplicationContextRunner web() {
        return new WebApplicationContextRunner()
                .withInitializer(EndpointApplication::readAsAnApplication)
                .withConfiguration(AutoConfigurations.of(
                        VirtualThreadAutoConfiguration.class,
                        VirtualThreadActuatorAutoConfiguration.class,
                        EndpointAutoConfiguration.class,
                        WebEndpointAutoConfiguration.class,
                        JacksonAutoConfiguration.class,
                        JacksonEndpointAutoConfiguration.class,
                        HttpMessageConvertersAutoConfiguration.class,
                        ManagementContextAutoConfiguration.class,
                        ServletManagementContextAutoConfiguration.class,
                        DispatcherServletAutoConfiguration.class,
                        WebMvcAutoConfiguration.class));
    }

    /** {@code unrestricted} in lower case, among others, which {@code SpringApplication} sees to. */
    static void readAsAnApplication(ConfigurableApplicationContext context) {
        context.getEnvironment().setConversionService(new ApplicationConversionService());
    }

    /** Runs the test; whatever waits at the gate goes on at its end. */
    static void run(WebApplicationContextRunner runner, Test test) {
        runner.run(context -> {
            EndpointApplication application = new EndpointApplication(context);
            try {
                test.run(application);
            } finally {
                application.gate.countDown();
            }
        });
    }

    TaskLimit limit() {
        return context.getBean(TaskLimits.class).get("price-db");
    }

    <T> T bean(Class<T> type) {
        return context.getBean(type);
    }

    Answer read(String path) throws Exception {
        return send(get(PATH + path));
    }

    /** What GET shows of the first limit. */
    Map<String, Object> firstLimit() throws Exception {
        return read("").get("$.limits[0]");
    }

    Answer write(String path, String json) throws Exception {
        return send(post(PATH + path).contentType(MediaType.APPLICATION_JSON).content(json));
    }

    Answer end(String path) throws Exception {
        return send(delete(PATH + path));
    }

    private Answer send(MockHttpServletRequestBuilder request) throws Exception {
        MockHttpServletResponse response = http.perform(request.accept(MediaType.APPLICATION_JSON))
                .andReturn()
                .getResponse();
        return new Answer(response.getStatus(), response.getContentAsString());
    }

    /** A call that runs when this returns, until the gate opens. */
    CompletableFuture<String> hold() throws Exception {
        return hold(shop::price);
    }

    /** The same for a call that is made in another way. */
    <T> T hold(Start<T> start) throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        T held = start.with(() -> {
            running.countDown();
            gate.await();
            return "held";
        });
        await(running);
        return held;
    }

    static void await(CountDownLatch latch) throws InterruptedException {
        if (!latch.await(2, TimeUnit.MINUTES)) {
            throw new AssertionError("nobody came within 2 minutes");
        }
    }

    @FunctionalInterface
    interface Test {
        void run(EndpointApplication application) throws Exception;
    }

    interface Start<T> {
        T with(Callable<String> body) throws Exception;
    }

    /** What came back. */
    record Answer(int status, String body) {

        DocumentContext json() {
            return JsonPath.parse(body);
        }

        <T> T get(String path) {
            return json().read(path);
        }

        String message() {
            return get("$.message");
        }

        void assertRefused(int expected, String message) {
            assertThat(status).as(message).isEqualTo(expected);
            assertThat(message()).isEqualTo(message);
        }
    }

    static class Shop {

        @VirtualThread(limit = "price-db", timeout = "30s")
        public CompletableFuture<String> price(Callable<String> body) throws Exception {
            return CompletableFuture.completedFuture(body.call());
        }

        @VirtualThread
        public CompletableFuture<String> mail(Callable<String> body) throws Exception {
            return CompletableFuture.completedFuture(body.call());
        }

        @Limited("price-db")
        public String stock(Callable<String> body) throws Exception {
            return body.call();
        }
    }
}
