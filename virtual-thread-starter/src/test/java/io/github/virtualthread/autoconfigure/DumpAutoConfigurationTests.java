package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;

import com.jayway.jsonpath.JsonPath;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.actuate.EndpointApplication;
import io.github.virtualthread.actuate.VirtualThreadDumpEndpoint;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.http.MediaType;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.context.WebApplicationContext;

/** When the endpoint is there, and what it answers over HTTP. */
@Timeout(300)
class DumpAutoConfigurationTests {

    private static final String EXPOSED = "management.endpoints.web.exposure.include=virtualthreaddump";
    private static final String ACCESSIBLE = "management.endpoint.virtualthreaddump.access=read-only";

    private final WebApplicationContextRunner runner = EndpointApplication.web()
            .withConfiguration(AutoConfigurations.of(VirtualThreadDumpAutoConfiguration.class));

    @Test
    void itIsNotThereUnlessExposedAndAccessible() {
        runner.run(context -> assertThat(context).doesNotHaveBean(VirtualThreadDumpEndpoint.class));
        runner.withPropertyValues(ACCESSIBLE)
                .run(context -> assertThat(context).doesNotHaveBean(VirtualThreadDumpEndpoint.class));
        runner.withPropertyValues("management.endpoints.web.exposure.include=*")
                .run(context -> assertThat(context).doesNotHaveBean(VirtualThreadDumpEndpoint.class));
    }

    @Test
    void itIsNotThereOnAJvmThatWritesNoDump() {
        runner.withPropertyValues(EXPOSED, ACCESSIBLE)
                .withClassLoader(new FilteredClassLoader("com.sun.management"))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("virtualThreadDumpEndpoint"));
    }

    @Test
    void theFormIsAMatterOfTheRequest() {
        runner.withPropertyValues(EXPOSED, ACCESSIBLE).withBean(Prices.class).run(context -> {
            CountDownLatch running = new CountDownLatch(1);
            CountDownLatch gate = new CountDownLatch(1);
            CompletableFuture<?> call = context.getBean(Prices.class).find(running, gate);
            assertThat(running.await(2, TimeUnit.MINUTES)).isTrue();

            MockHttpServletResponse json = answer(context, MediaType.APPLICATION_JSON);
            MockHttpServletResponse any = answer(context, MediaType.ALL);
            MockHttpServletResponse text = answer(context, MediaType.TEXT_PLAIN);
            gate.countDown();
            call.join();

            for (MockHttpServletResponse response : List.of(json, any)) {
                assertThat(response.getContentType()).startsWith("application/json");
                List<String> names = JsonPath.read(
                        response.getContentAsString(), "$.threadDump.threadContainers[*].threads[*].name");
                assertThat(names).contains("main", "vt-Prices.find-1");
            }
            assertThat(text.getContentType()).isEqualTo("text/plain;charset=UTF-8");
            assertThat(text.getContentAsString()).contains("\"main\"", "\"vt-Prices.find-1\" virtual", "$Prices.find(");
        });
    }

    private static MockHttpServletResponse answer(WebApplicationContext context, MediaType accepted) throws Exception {
        MockHttpServletResponse response = MockMvcBuilders.webAppContextSetup(context)
                .build()
                .perform(get("/actuator/virtualthreaddump").accept(accepted))
                .andReturn()
                .getResponse();
        assertThat(response.getStatus()).isEqualTo(200);
        return response;
    }

    static class Prices {

        @VirtualThread
        public CompletableFuture<String> find(CountDownLatch running, CountDownLatch gate) throws InterruptedException {
            running.countDown();
            gate.await();
            return CompletableFuture.completedFuture("found");
        }
    }
}
