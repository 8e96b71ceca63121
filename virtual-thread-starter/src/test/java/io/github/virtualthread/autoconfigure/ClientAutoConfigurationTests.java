package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.github.virtualthread.execution.Deadline;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.web.client.RestClientAutoConfiguration;
import org.springframework.boot.autoconfigure.web.client.RestTemplateAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.client.RestClientCustomizer;
import org.springframework.boot.web.client.RestTemplateBuilder;
import org.springframework.context.ApplicationContext;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.support.RestClientAdapter;
import org.springframework.web.service.annotation.GetExchange;
import org.springframework.web.service.invoker.HttpServiceProxyFactory;

/** When the clients of Spring Boot tell other services how much time is left, and to whom. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class ClientAutoConfigurationTests {

    private static final String HEADER = "X-Request-Timeout-Ms";
    private static final String[] TOLD = {
        "virtual-thread.client.deadline-header=" + HEADER, "virtual-thread.client.deadline-hosts=localhost"
    };

    private static final AutoConfigurations CLIENTS = AutoConfigurations.of(
            VirtualThreadAutoConfiguration.class,
            VirtualThreadClientAutoConfiguration.class,
            RestClientAutoConfiguration.class,
            RestTemplateAutoConfiguration.class);

    private final ApplicationContextRunner runner = new ApplicationContextRunner().withConfiguration(CLIENTS);
    private final List<String> received = new CopyOnWriteArrayList<>();
    private HttpServer server;

    @BeforeEach
    void startAService() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            received.add(String.valueOf(exchange.getRequestHeaders().getFirst(HEADER)));
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void stopTheService() {
        server.stop(0);
    }

    private interface Client {
        void get(ApplicationContext context, String address);
    }

    /** An HTTP interface. */
    interface Service {

        @GetExchange("/")
        void get();
    }

    private enum Kind {
        REST_CLIENT((context, address) -> context.getBean(RestClient.Builder.class)
                .build()
                .get()
                .uri(address)
                .retrieve()
                .toBodilessEntity()),
        REST_TEMPLATE((context, address) ->
                context.getBean(RestTemplateBuilder.class).build().getForEntity(address, Void.class)),
        HTTP_INTERFACE((context, address) -> HttpServiceProxyFactory.builderFor(
                        RestClientAdapter.create(context.getBean(RestClient.Builder.class)
                                .baseUrl(address)
                                .build()))
                .build()
                .createClient(Service.class)
                .get());

        private final Client client;

        Kind(Client client) {
            this.client = client;
        }
    }

    private String address(String host) {
        return "http://%s:%d/".formatted(host, server.getAddress().getPort());
    }

    @ParameterizedTest
    @EnumSource
    void aNamedHostIsToldWhatIsLeft(Kind kind) {
        runner.withPropertyValues(TOLD).run(context -> {
            Deadline.call(Duration.ofMinutes(10), () -> {
                kind.client.get(context, address("localhost"));
                kind.client.get(context, address("127.0.0.1"));
                return "";
            });
            kind.client.get(context, address("localhost"));

            assertThat(received).hasSize(3);
            assertThat(Long.parseLong(received.get(0))).isBetween(300_000L, 600_000L);
            assertThat(received.get(1)).as("a host that is not named").isEqualTo("null");
            assertThat(received.get(2)).as("without a deadline").isEqualTo("null");
        });
    }

    @ParameterizedTest
    @EnumSource
    void onceTheDeadlineHasPassedNothingIsSent(Kind kind) {
        runner.withPropertyValues(TOLD).run(context -> {
            assertThatThrownBy(() -> Deadline.call(Duration.ofNanos(1), () -> {
                        kind.client.get(context, address("localhost"));
                        return "";
                    }))
                    .isInstanceOf(ResourceAccessException.class)
                    .hasCauseInstanceOf(SocketTimeoutException.class);

            assertThat(received).isEmpty();
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"spring.application.name=shop", "virtual-thread.limits.db.permits=1"})
    void withoutTheHeaderThereIsNothing(String property) {
        runner.withPropertyValues(property).run(context -> assertThat(context)
                .hasNotFailed()
                .doesNotHaveBean(ClientSettings.CUSTOMIZER)
                .doesNotHaveBean(ClientSettings.class));
    }

    @Test
    void offIsOff() {
        runner.withPropertyValues(TOLD)
                .withPropertyValues("virtual-thread.enabled=false")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(ClientSettings.CUSTOMIZER));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "X Timeout; localhost; virtual-thread.client.deadline-header must be the name of a header, was 'X Timeout'",
                "X-Timeout:; localhost; virtual-thread.client.deadline-header must be the name of a header, was 'X-Timeout:'",
                "X-Timeout; ; virtual-thread.client.deadline-header is set, but virtual-thread.client.deadline-hosts is empty",
                "X-Timeout; http://reviews; virtual-thread.client.deadline-hosts must have names of hosts, was 'http://reviews'",
                "X-Timeout; reviews:8080; virtual-thread.client.deadline-hosts must have names of hosts, was 'reviews:8080'",
                "X-Timeout; my_service; virtual-thread.client.deadline-hosts must have names of hosts, was 'my_service'",
                "X-Timeout; shop.*; virtual-thread.client.deadline-hosts must have names of hosts, was 'shop.*'",
            })
    void aWrongValueFailsTheStart(String header, String hosts, String message) {
        runner.withPropertyValues(
                        "virtual-thread.client.deadline-header=" + (header == null ? "" : header),
                        "virtual-thread.client.deadline-hosts=" + (hosts == null ? "" : hosts))
                .run(context -> assertThat(context).getFailure().hasMessageContaining(message));
    }

    @Test
    void withoutABuilderOfSpringBootTheStartFails() {
        runner.withPropertyValues(TOLD)
                .withClassLoader(new FilteredClassLoader(RestClientCustomizer.class))
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasMessageContaining("Spring Boot's builder of RestClient is not on the class path"));
    }

    /** Spring Boot 3 has no builders for a reactive application. */
    @Test
    void whereSpringBootConfiguresNoClientTheStartWarns(CapturedOutput output) {
        String warning = "virtual-thread.client.deadline-header is set, but Spring Boot configures no RestClient";
        runner.withPropertyValues(TOLD).run(context -> assertThat(output).doesNotContain(warning));

        new ReactiveWebApplicationContextRunner()
                .withConfiguration(CLIENTS)
                .withPropertyValues(TOLD)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).containsOnlyOnce(warning);
    }

    /** One property switches it off, whatever a file says of the hosts. */
    @ParameterizedTest
    @ValueSource(strings = {"", " ", "none"})
    void blankAndNoneAreNoHeader(String header) {
        runner.withPropertyValues(
                        "virtual-thread.client.deadline-header=" + header,
                        "virtual-thread.client.deadline-hosts=localhost")
                .run(context -> {
                    Deadline.call(Duration.ofMinutes(10), () -> {
                        Kind.REST_CLIENT.client.get(context, address("localhost"));
                        return "";
                    });

                    assertThat(received).containsExactly("null");
                });
    }
}
