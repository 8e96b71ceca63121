package io.github.virtualthread.web;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadDoorAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadWebMvcAutoConfiguration;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.http.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.web.embedded.EmbeddedWebServerFactoryCustomizerAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.DispatcherServletAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.ServletWebServerFactoryAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.error.ErrorMvcAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.web.context.ServerPortInfoApplicationContextInitializer;
import org.springframework.boot.web.servlet.context.AnnotationConfigServletWebServerApplicationContext;
import org.springframework.boot.web.servlet.context.ServletWebServerApplicationContext;
import org.springframework.context.ApplicationContext;

/** An application on Tomcat with a limit at its door, and a client. */
final class DoorApplication {

    /** Two permits; two requests may wait. */
    static final WebApplicationContextRunner RUNNER = new WebApplicationContextRunner(
                    AnnotationConfigServletWebServerApplicationContext::new)
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class,
                    VirtualThreadDoorAutoConfiguration.class,
                    VirtualThreadWebMvcAutoConfiguration.class,
                    EmbeddedWebServerFactoryCustomizerAutoConfiguration.class,
                    ServletWebServerFactoryAutoConfiguration.class,
                    DispatcherServletAutoConfiguration.class,
                    HttpMessageConvertersAutoConfiguration.class,
                    TaskExecutionAutoConfiguration.class,
                    WebMvcAutoConfiguration.class,
                    ErrorMvcAutoConfiguration.class))
            .withInitializer(new ServerPortInfoApplicationContextInitializer())
            .withPropertyValues(
                    "server.port=0",
                    "server.shutdown=immediate", // a stop does not wait for requests that Tomcat never ends
                    "spring.threads.virtual.enabled=true",
                    "virtual-thread.limits.web.permits=2",
                    "virtual-thread.limits.web.queue-capacity=2",
                    "virtual-thread.web.limit=web");

    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    private final ApplicationContext context;

    DoorApplication(ApplicationContext context) {
        this.context = context;
    }

    /** Runs an application with a controller and further properties under {@code virtual-thread}. */
    static void run(Class<?> controller, Requests requests, String... properties) {
        RUNNER.withUserConfiguration(controller)
                .withPropertyValues(
                        Arrays.stream(properties).map("virtual-thread."::concat).toArray(String[]::new))
                .run(context -> requests.send(new DoorApplication(context)));
    }

    interface Requests {
        void send(DoorApplication it) throws Exception;
    }

    <T> T bean(Class<T> type) {
        return context.getBean(type);
    }

    TaskLimit limit() {
        return context.getBean(TaskLimits.class).get("web");
    }

    HttpResponse<String> get(String path, String... headers) throws Exception {
        return ask(path, headers).get(2, MINUTES);
    }

    HttpResponse<String> getManagement(String path) throws Exception {
        int port = context.getEnvironment().getRequiredProperty("local.management.port", Integer.class);
        return CLIENT.sendAsync(
                        request(URI.create("http://localhost:%d%s".formatted(port, path))), BodyHandlers.ofString())
                .get(2, MINUTES);
    }

    CompletableFuture<HttpResponse<String>> ask(String path, String... headers) {
        return CLIENT.sendAsync(request(uri(path), headers), BodyHandlers.ofString());
    }

    /** The whole answer to a path that a client checks or changes before it sends it. */
    String getRaw(String path) throws IOException {
        try (Socket client = new Socket("localhost", port())) {
            client.getOutputStream()
                    .write("GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                            .formatted(path)
                            .getBytes(US_ASCII));
            return new String(client.getInputStream().readAllBytes(), US_ASCII);
        }
    }

    private static HttpRequest request(URI uri, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(uri).timeout(Duration.ofMinutes(2));
        return (headers.length == 0 ? request : request.headers(headers)).build();
    }

    private URI uri(String path) {
        return URI.create("http://localhost:%d%s".formatted(port(), path));
    }

    /** -1 from the moment on at which a stop lets no further requests in. */
    int port() {
        return ((ServletWebServerApplicationContext) sourceOf(context))
                .getWebServer()
                .getPort();
    }

    /** The context behind the one that a runner shows. */
    private static ApplicationContext sourceOf(ApplicationContext context) {
        return context instanceof AssertableWebApplicationContext shown ? shown.getSourceApplicationContext() : context;
    }

    void awaitWaiting(int requests) {
        await().atMost(Duration.ofMinutes(2)).until(() -> limit().waiting() == requests);
    }

    /** The client has its answer before the server ends the exchange. */
    void awaitFree() {
        await().atMost(Duration.ofMinutes(2)).until(() -> limit().inUse() == 0);
        assertThat(limit().waiting()).isZero();
        assertThat(limit().available()).isEqualTo(limit().permits());
    }
}
