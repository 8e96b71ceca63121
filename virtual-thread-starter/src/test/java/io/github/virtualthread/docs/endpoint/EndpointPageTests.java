package io.github.virtualthread.docs.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.request;

import com.jayway.jsonpath.JsonPath;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.actuate.EndpointApplication;
import io.github.virtualthread.cluster.ClusterShares;
import io.github.virtualthread.cluster.MemoryEngine;
import io.github.virtualthread.docs.Pages;
import io.github.virtualthread.docs.Pages.Block;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.TaskLimit.Member;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.limit.TestLease;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.MDC;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.request.MockHttpServletRequestBuilder;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;

/**
 * endpoint.md, from top to bottom, and the answers that it links: an application with the settings of its blocks of YAML gets the requests of its blocks of
 * shell, one after the other, and gives the answers of its blocks of JSON. Ages, numbers of calls and stacks differ, and
 * {@code "..."} stands for more keys.
 */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class EndpointPageTests {

    /** The page, and a file beside the tests with more answers. */
    private static final List<Path> PAGES = Stream.of(
                    "docs/endpoint.md", "virtual-thread-starter/src/test/resources/more-endpoint-answers.md")
            .map(Pages.ROOT::resolve)
            .toList();

    private static final Pattern CURL = Pattern.compile(
            "curl -u operator (?:-X (\\w+) )?(?:-H '[^']+' )?(?:-d '([^']+)' )?'?localhost:8080([^\\s']+)'?");

    private final CountDownLatch gate = new CountDownLatch(1);

    @AfterEach
    void clear() {
        gate.countDown();
        MDC.clear();
    }

    @Test
    void theAnswersAreThoseOfTheEndpoint(CapturedOutput output) {
        application().run(context -> {
            MockMvc http = MockMvcBuilders.webAppContextSetup(context).build();
            callAndWait(context.getBean(Shop.class));
            String first = first(http);
            List<String> requests = blocks("shell").map(Block::text).toList();
            List<String> answers = blocks("json")
                    .filter(block -> block.directive().equals("answer"))
                    .map(Block::text)
                    .toList();

            assertThat(requests).hasSameSizeAs(answers).hasSizeGreaterThan(6);
            for (int i = 0; i < requests.size(); i++) {
                String body = send(http, requests.get(i).replaceFirst("id=\\d+", "id=" + first));
                Object shown = normalized(answers.get(i));
                assertThat(asShown(shown, normalized(body))).as(requests.get(i)).isEqualTo(shown);
            }
        });

        assertThat(blocks("text").filter(block -> block.directive().equals("log")))
                .hasSize(3)
                .allSatisfy(block -> assertThat(output.getAll().replaceAll("call \\d+", "call N"))
                        .contains(block.text().replaceAll("call \\d+", "call N")));
    }

    @Test
    void theAnswersAboutSharedLimitsAreThoseOfTheEndpoint() {
        MemoryEngine engine = new MemoryEngine(false);
        engine.fail(); // what lends permits is the test
        application()
                .withPropertyValues("spring.application.name=shop", "virtual-thread.cluster.member=shop-1")
                .withBean(MemoryEngine.class, () -> engine)
                .withBean(LimitSettings.class, () -> LimitSettings.of("partner", 20)
                        .withClusterPermits(20)
                        .withOnFailure(OnFailure.WAIT))
                .run(context -> {
                    MockMvc http = MockMvcBuilders.webAppContextSetup(context).build();
                    String self = context.getBean(ClusterShares.class).member();
                    TestLease lease =
                            new TestLease(context.getBean(TaskLimits.class).get("partner"));
                    List<String> requests = blocks("sh").map(Block::text).toList();
                    List<String> answers = blocks("json")
                            .filter(block -> block.directive().equals("shared"))
                            .map(Block::text)
                            .toList();

                    assertThat(requests).hasSameSizeAs(answers).hasSize(3);
                    for (int i = 0; i < requests.size(); i++) {
                        lend(lease, self, i == 0 ? 20 : 30);
                        Object shown = normalized(answers.get(i));
                        String body = send(http, requests.get(i)).replace(self, "shop-1-x4tq");
                        assertThat(asShown(shown, normalized(body)))
                                .as(requests.get(i))
                                .isEqualTo(shown);
                    }
                });
    }

    private static void lend(TestLease lease, String self, int permits) {
        lease.lend(
                7,
                20,
                new Member(self, 7, 9, permits, Duration.ofMillis(300), Duration.ofMillis(80)),
                new Member("shop-2-9bfm", 7, 31, 20, Duration.ofMillis(2_400), Duration.ofMillis(120)));
    }

    private static WebApplicationContextRunner application() {
        return EndpointApplication.web()
                .withInitializer(context -> blocks("yaml").forEach(block -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(Pages.properties(block.where(), block.text()))))
                .withPropertyValues(
                        "virtual-thread.limits.db.permits=2",
                        "virtual-thread.limits.db.queue-capacity=100",
                        "virtual-thread.limits.db.max-wait=1m",
                        "virtual-thread.shutdown.await-termination-period=0s")
                .withBean(Shop.class);
    }

    private static Stream<Block> blocks(String language) {
        return PAGES.stream().flatMap(page -> Pages.blocks(page).stream()).filter(block -> block.language()
                .equals(language));
    }

    private void callAndWait(Shop shop) throws InterruptedException {
        MDC.put("traceId", "803b448a0489f84084905d3093480352");
        MDC.put("user", "alice");
        for (int i = 0; i < 2; i++) {
            CountDownLatch running = new CountDownLatch(1);
            shop.price(running, gate);
            assertThat(running.await(2, TimeUnit.MINUTES)).isTrue();
        }
        for (int i = 0; i < 3; i++) {
            shop.price(new CountDownLatch(1), gate);
        }
    }

    /** The number of the call that has run longest. */
    private static String first(MockMvc http) throws Exception {
        Integer id = JsonPath.read(
                send(http, "curl -u operator localhost:8080/actuator/virtualthreads/db"), "$.calls[0].id");
        return id.toString();
    }

    private static String send(MockMvc http, String curl) throws Exception {
        Matcher parts = CURL.matcher(curl);
        assertThat(parts.matches()).as(curl).isTrue();
        String method = parts.group(1) == null ? "GET" : parts.group(1);
        MockHttpServletRequestBuilder request = request(HttpMethod.valueOf(method), URI.create(parts.group(3)));
        if (parts.group(2) != null) {
            request.contentType(MediaType.APPLICATION_JSON).content(parts.group(2));
        }
        return http.perform(request.accept(MediaType.APPLICATION_JSON))
                .andReturn()
                .getResponse()
                .getContentAsString();
    }

    private static Object normalized(String json) {
        return normalized("", JsonPath.parse(json).json());
    }

    private static Object normalized(String key, Object value) {
        if (value instanceof Map<?, ?> object) {
            Map<String, Object> copy = new LinkedHashMap<>();
            object.forEach((name, each) -> copy.put(String.valueOf(name), normalized(String.valueOf(name), each)));
            return copy;
        }
        if (key.equals("stack")) {
            return "some frames";
        }
        if (value instanceof List<?> list) {
            List<Object> copy = new ArrayList<>();
            list.forEach(each -> copy.add(normalized("", each)));
            return copy;
        }
        return switch (key) {
            case "id", "ageSeconds", "saturatedForSeconds", "oldestRunningSeconds", "oldestWaitingSeconds" ->
                "a number";
            default -> value;
        };
    }

    /** An answer without the keys for which the page has {@code "..."}. */
    private static Object asShown(Object shown, Object answer) {
        if (shown instanceof List<?> list && answer instanceof List<?> other && list.size() == other.size()) {
            List<Object> copy = new ArrayList<>();
            for (int i = 0; i < list.size(); i++) {
                copy.add(asShown(list.get(i), other.get(i)));
            }
            return copy;
        }
        if (shown instanceof Map<?, ?> object && answer instanceof Map<?, ?> other) {
            Map<Object, Object> copy = new LinkedHashMap<>(other);
            if (object.containsKey("...")) {
                copy.keySet().retainAll(object.keySet());
                copy.put("...", "...");
            }
            copy.replaceAll((key, value) -> object.containsKey(key) ? asShown(object.get(key), value) : value);
            return copy;
        }
        return answer;
    }

    static class Shop {

        @VirtualThread(limit = "db", timeout = "30s")
        public CompletableFuture<String> price(CountDownLatch running, CountDownLatch gate)
                throws InterruptedException {
            running.countDown();
            gate.await();
            return CompletableFuture.completedFuture("price");
        }

        @VirtualThread
        public void mail() {}
    }
}
