package io.github.virtualthread.docs.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadDoorAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadWebFluxAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadWebMvcAutoConfiguration;
import io.github.virtualthread.docs.Pages;
import io.github.virtualthread.execution.Deadline;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.KeyUse;
import io.github.virtualthread.limit.TaskLimit.Occupation;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.web.WebLimitFilter;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.core.env.PropertySource;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

/** The examples of web.md do what the page says. */
@Timeout(300)
class WebPageTests {

    private static final Duration MINUTES = Duration.ofMinutes(2);

    private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class,
                    VirtualThreadDoorAutoConfiguration.class,
                    VirtualThreadWebMvcAutoConfiguration.class,
                    VirtualThreadWebFluxAutoConfiguration.class))
            .withInitializer(
                    context -> context.getEnvironment().getPropertySources().addLast(yaml()));

    @Test
    void aRequestThatDoesNotFitIsAnsweredAndAnExcludedOnePasses() {
        runner.withPropertyValues("virtual-thread.limits.web.queue-capacity=0").run(context -> {
            try (Occupation occupied = web(context).occupy()) {
                MockHttpServletResponse rejected = send(door(context), "/orders", response -> {});

                assertThat(rejected.getStatus()).isEqualTo(503);
                assertThat(rejected.getHeader("Retry-After")).isEqualTo("1");
                assertThat(rejected.getContentAsByteArray()).isEmpty();
                for (String excluded : new String[] {"/events/7", "/notifications/poll"}) {
                    assertThat(send(door(context), excluded, WebPageTests::showDeadline)
                                    .getContentAsString())
                            .isEqualTo("none");
                }
            }
            assertThat(send(door(context), "/orders", WebPageTests::showDeadline)
                            .getContentAsString())
                    .isEqualTo("some");
        });
    }

    @Test
    void theKeyOfARequestCounts() {
        runner.withPropertyValues("virtual-thread.limits.web.max-wait=5m", "virtual-thread.web.deadline=5m")
                .withBean(TenantOfRequest.class)
                .run(context -> {
                    CompletableFuture<MockHttpServletResponse> waiting;
                    try (Occupation occupied = web(context).occupy()) {
                        waiting = CompletableFuture.supplyAsync(
                                () -> send(door(context), "/orders", response -> {}),
                                Executors.newVirtualThreadPerTaskExecutor());
                        await().atMost(MINUTES)
                                .until(() -> web(context).busiestKeys(10).equals(List.of(new KeyUse("acme", 0, 1))));
                    }
                    assertThat(waiting.join().getStatus()).isEqualTo(200);
                });
    }

    @Test
    void theFilterCanBeABean() {
        runner.withUserConfiguration(PlainDoor.class).run(context -> {
            WebLimitFilter door = context.getBean(WebLimitFilter.class);
            try (Occupation occupied = web(context).occupy()) {
                assertThat(send(door, "/events/7", WebPageTests::showDeadline).getContentAsString())
                        .isEqualTo("none");
            }
            assertThat(send(door, "/orders", WebPageTests::showDeadline).getContentAsString())
                    .isEqualTo("some");
        });
    }

    private static TaskLimit web(ApplicationContext context) {
        return context.getBean(TaskLimits.class).get("web");
    }

    private static Filter door(ApplicationContext context) {
        return context.getBean(FilterRegistrationBean.class).getFilter();
    }

    private static MockHttpServletResponse send(Filter door, String path, Handler handler) {
        MockHttpServletRequest request = new MockHttpServletRequest("GET", path);
        request.setServletPath(path);
        request.addHeader("X-Tenant", "acme");
        MockHttpServletResponse response = new MockHttpServletResponse();
        FilterChain chain = (same, answer) -> handler.handle((HttpServletResponse) answer);
        try {
            door.doFilter(request, response, chain);
        } catch (Exception failure) {
            throw new AssertionError(failure);
        }
        return response;
    }

    private static void showDeadline(HttpServletResponse response) throws IOException {
        response.getWriter().write(Deadline.remaining().isPresent() ? "some" : "none");
    }

    private static PropertySource<?> yaml() {
        Pages.Block block = Pages.blocks("yaml")
                .filter(each -> each.where().startsWith("docs/web.md"))
                .findFirst()
                .orElseThrow();
        return Pages.properties(block.where(), block.text());
    }

    /** What is behind the door. */
    interface Handler {

        void handle(HttpServletResponse response) throws IOException;
    }
}
