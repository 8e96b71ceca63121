package com.acme.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.acme.shop.Prices.Price;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.TaskLimit.ClusterState;
import io.github.virtualthread.limit.TaskLimits;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.aot.BeanInstanceSupplier;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.task.AsyncTaskExecutor;

/** What has to work on every line of Spring Boot, seen from outside as far as that goes. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class SmokeTests {

    private static final String ALICE = basic("alice");
    private static final String OPERATOR = basic("operator");

    private static final HttpClient http = HttpClient.newHttpClient();

    private static ConfigurableApplicationContext shop;
    private static String startLog;

    @BeforeAll
    static void start(CapturedOutput output) {
        // code that was generated ahead of time knows nothing of this limit
        shop = application()
                .run(
                        "--virtual-thread.limits.shared.cluster-permits=5",
                        "--virtual-thread.cluster.replicas=2",
                        "--virtual-thread.cluster.name=shop");
        startLog = output.getAll();
    }

    /** As {@code main} makes it: its class names the code that was generated ahead of time. */
    private static SpringApplication application() {
        SpringApplication application = new SpringApplication(ShopApplication.class);
        application.setMainApplicationClass(ShopApplication.class);
        return application;
    }

    @AfterAll
    static void stop() {
        shop.close();
        http.close();
    }

    @Test
    void itRunsOnTheSpringBootAndTheJavaThatWereAskedFor() {
        assertThat(SpringBootVersion.getVersion()).isEqualTo(System.getProperty("expected.spring-boot"));
        String java = System.getProperty("expected.java");
        if (java == null || java.isBlank()) {
            assertThat(Runtime.version().feature()).isGreaterThanOrEqualTo(21);
        } else {
            assertThat(Runtime.version().feature()).hasToString(java);
        }
        assertThat(VirtualThread.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .getPath())
                .endsWith(".jar");
    }

    @Test
    void itRunsFromGeneratedCodeWhereThatWasAskedFor() {
        boolean aot = Boolean.parseBoolean(System.getProperty("expected.aot"));
        RootBeanDefinition prices = (RootBeanDefinition) shop.getBeanFactory().getMergedBeanDefinition("prices");

        assertThat(startLog).contains(aot ? "Starting AOT-processed ShopApplication" : "Starting ShopApplication");
        assertThat(prices.getInstanceSupplier() instanceof BeanInstanceSupplier<?>)
                .isEqualTo(aot);
    }

    @Test
    void theStartIsQuiet() {
        assertThat(startLog)
                .contains("Virtual threads: 4 annotated methods, 1 of them without a limit")
                .contains("db (3 permits from dataSource less 1, unbounded queue, unbounded wait)")
                .contains("partner (5 permits, queue of 10, wait up to 2s)")
                .contains("report (2 permits, 1 per key, within db, unbounded queue, 5 per key, unbounded wait)")
                .contains("propagated: MDC, registered context, authentication")
                .doesNotContain("not eligible for getting processed by all BeanPostProcessors");
    }

    @Test
    void anAnnotatedMethodRunsOnAVirtualThreadOfItsNameAndSeesWhatTheCallerSaw() throws Exception {
        HttpResponse<String> answer = send(request("/price").header("X-Request-Id", "r-1"), ALICE);

        assertThat(answer.body())
                .contains(
                        "\"amount\":7",
                        "\"virtual\":true",
                        "\"transaction\":true",
                        "\"user\":\"alice\"",
                        "\"requestId\":\"r-1\"")
                .containsPattern("\"thread\":\"vt-Prices\\.find-\\d+\"");
        assertThat(answer.statusCode()).isEqualTo(200);
    }

    @Test
    void theDatabaseLendsPermitsToALimitOfAllReplicas() throws Exception {
        assertThat(shop.getBean(VirtualThreads.class)
                        .submit("shared", () -> "done")
                        .get(2, TimeUnit.MINUTES))
                .isEqualTo("done");

        assertThat(shop.getBean(TaskLimits.class).get("shared").cluster().lending())
                .isEqualTo(ClusterState.Lending.LENT);
    }

    @Test
    void aLimitedControllerHoldsAPermit() throws Exception {
        int permits = Integer.parseInt(permitsOf("partner"));

        assertThat(get("/free")).isEqualTo(String.valueOf(permits - 1));
    }

    @Test
    void aRejectedRequestIsAnswered503WithRetryAfter() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch gate = new CountDownLatch(1);
        assertThat(change("{\"permits\": 1, \"queueCapacity\": 0}").statusCode())
                .isEqualTo(200);
        CompletableFuture<Boolean> held = shop.getBean(VirtualThreads.class).submit("partner", () -> {
            started.countDown();
            return gate.await(2, TimeUnit.MINUTES);
        });
        assertThat(started.await(2, TimeUnit.MINUTES)).isTrue();

        HttpResponse<String> answer = send(request("/free"), ALICE);
        assertThat(answer.statusCode()).isEqualTo(503);
        assertThat(answer.headers().firstValue("Retry-After")).contains("1");
        assertThat(answer.body()).isEmpty();

        gate.countDown();
        assertThat(held).succeedsWithin(Duration.ofMinutes(2));
        assertThat(change("{\"permits\": 5, \"queueCapacity\": 10}").statusCode())
                .isEqualTo(200);
    }

    @Test
    void aCallThatTakesTooLongIsAnswered503(CapturedOutput output) throws Exception {
        HttpResponse<String> answer = send(request("/late"), ALICE);

        assertThat(answer.statusCode()).isEqualTo(503);
        assertThat(answer.headers().firstValue("Retry-After")).isEmpty();
        assertThat(answer.body()).isEmpty();
        assertThat(output).doesNotContain("CallTimeoutException");
    }

    @Test
    void metersAreThereAfterACall() throws Exception {
        send(request("/price").header("X-Request-Id", "r-2"), ALICE);

        assertThat(get("/actuator/prometheus"))
                .containsPattern("virtual_thread_submitted_total\\{[^}]*method=\"Prices\\.find\"")
                .containsPattern("virtual_thread_tasks_seconds_count\\{[^}]*outcome=\"success\"")
                .containsPattern("virtual_thread_task_seconds_count\\{")
                .containsPattern("virtual_thread_limit_permits\\{[^}]*limit=\"db\"[^}]*} 3");
    }

    @Test
    void theEndpointShowsLimitsAndMethods() throws Exception {
        assertThat(get("/actuator/virtualthreads"))
                .contains("\"name\":\"db\",\"permits\":3")
                .contains("\"permitsFrom\":{\"bean\":\"dataSource\",\"headroom\":1}")
                .contains("\"name\":\"Prices.find\",\"limit\":\"db\"")
                .contains("\"name\":\"ShopController.free\",\"limit\":\"partner\"");
        assertThat(get("/actuator/virtualthreads/db")).contains("\"calls\":[]");
    }

    @Test
    void theEndpointChangesALimitAndRefusesWhatCannotBe() throws Exception {
        HttpResponse<String> changed = change("{\"permits\": 2, \"maxWait\": \"1s\"}");
        assertThat(changed.body()).contains("\"name\":\"partner\",\"permits\":2", "\"maxWaitSeconds\":1.0");
        assertThat(changed.statusCode()).isEqualTo(200);
        assertThat(permitsOf("partner")).isEqualTo("2");

        HttpResponse<String> refused = change("{\"permits\": 0}");
        assertThat(refused.body()).contains("permits must be a whole number from 1 to 2147483647, was '0'");
        assertThat(refused.statusCode()).isEqualTo(400);
        assertThat(permitsOf("partner")).isEqualTo("2");
    }

    @Test
    void theEndpointRefusesKeysAndParametersThatItDoesNotKnow() throws Exception {
        HttpResponse<String> spelt = change("{\"queue-capacity\": 9, \"max-wait\": \"1s\"}");
        assertThat(spelt.body()).contains("\"queueCapacity\":9", "\"maxWaitSeconds\":1.0");

        HttpResponse<String> key = change("{\"permits\": 3, \"limit\": \"db\"}");
        assertThat(key.body())
                .isEqualTo("{\"message\":\"Unknown parameters [limit];"
                        + " known parameters are [permits, queueCapacity, maxWait, permitsPerKey,"
                        + " queueCapacityPerKey, clusterPermits, dryRun]\"}");
        assertThat(key.statusCode()).isEqualTo(400);

        HttpResponse<String> parameter = end("?all=true&call=17");
        assertThat(parameter.body())
                .isEqualTo("{\"message\":\"Unknown parameters [call]; known parameters are [id, all]\"}");
        assertThat(parameter.statusCode()).isEqualTo(400);
        assertThat(end("").statusCode()).isEqualTo(400);
        assertThat(end("?all=true").body()).isEqualTo("{\"limit\":\"partner\",\"rejected\":0,\"cancelled\":0}");
    }

    @Test
    void anOperatorMayWriteAndAMonitorMayRead() throws Exception {
        String partner = "/actuator/virtualthreads/partner";
        assertThat(send(request(partner), OPERATOR).statusCode()).isEqualTo(200);
        assertThat(send(request(partner).DELETE(), OPERATOR).statusCode()).isEqualTo(400);

        assertThat(send(request(partner), ALICE).statusCode()).isEqualTo(200);
        assertThat(send(request(partner).DELETE(), ALICE).statusCode()).isEqualTo(403);
        assertThat(send(request(partner).POST(BodyPublishers.ofString("{}")), ALICE)
                        .statusCode())
                .isEqualTo(403);
    }

    @Test
    void theFormOfAnotherSiteCannotChangeALimit() throws Exception {
        for (String type :
                List.of("application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=b")) {
            HttpRequest.Builder form = request("/actuator/virtualthreads/partner?permits=1")
                    .header("Content-Type", type)
                    .POST(BodyPublishers.ofString("permits=1"));

            assertThat(send(form, OPERATOR).statusCode()).as(type).isEqualTo(415);
        }
    }

    @Test
    void theThreadDumpShowsVirtualThreads() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch gate = new CountDownLatch(1);
        CompletableFuture<Price> price = shop.getBean(Prices.class).findLater(started, gate);
        assertThat(started.await(2, TimeUnit.MINUTES)).isTrue();

        assertThat(get("/actuator/virtualthreaddump")).contains("vt-Prices.findLater-");

        gate.countDown();
        assertThat(price).succeedsWithin(Duration.ofMinutes(2));
    }

    @Test
    void theExecutorsAreThoseOfSpringBoot() {
        assertThat(shop.getBeansOfType(AsyncTaskExecutor.class)).containsOnlyKeys("applicationTaskExecutor");
    }

    @Test
    void healthHasOurComponent() throws Exception {
        assertThat(get("/actuator/health")).contains("\"virtualThreads\":{\"status\":\"UP\"");
    }

    @Test
    void aMisspeltPropertyFailsTheStartWithOurReport(CapturedOutput output) {
        assertThatThrownBy(() -> application().run("--virtual-thread.limits.partner.permit=5"))
                .isNotNull();

        assertThat(output.getAll())
                .contains("APPLICATION FAILED TO START")
                .contains("Did you mean virtual-thread.limits.partner.permits?");
    }

    @Test
    void aLimitThatThereIsNotFailsTheStartWithOurReport(CapturedOutput output) {
        SpringApplication application = application();
        application.addInitializers((GenericApplicationContext context) -> context.registerBean(Mailer.class));

        assertThatThrownBy(application::run).isNotNull();

        assertThat(output.getAll())
                .contains("APPLICATION FAILED TO START")
                .contains("Mailer.send asks for limit 'partnr', but the configured limits are [db, partner, report]")
                .contains("Did you mean 'partner'?");
    }

    /** The lines differ here, and the pages say so. */
    @Test
    @DisabledIfSystemProperty(
            named = "expected.aot",
            matches = "true",
            disabledReason = "ShopApplication alone is processed, and it does not start without its limits")
    void aBlankSectionIsNotSetOnSpringBoot41AndFailsTheStartBelow(CapturedOutput output) {
        SpringApplication application = new SpringApplication(Nothing.class);
        application.setWebApplicationType(WebApplicationType.NONE);

        if (SpringBootVersion.getVersion().compareTo("4.1") >= 0) {
            application.run("--spring.config.name=blank").close();
        } else {
            assertThatThrownBy(() -> application.run("--spring.config.name=blank"))
                    .isNotNull();
            assertThat(output.getAll()).contains("virtual-thread.limits is empty, but must contain limits by name");
        }
    }

    @EnableAutoConfiguration
    static class Nothing {}

    static class Mailer {

        @VirtualThread("partnr")
        void send() {}
    }

    @Test
    void aRunningCallFinishesBeforeTheContextIsClosed() throws Exception {
        ConfigurableApplicationContext other = application().run();
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch gate = new CountDownLatch(1);
        CompletableFuture<Price> price = other.getBean(Prices.class).findLater(started, gate);
        assertThat(started.await(2, TimeUnit.MINUTES)).isTrue();

        Thread closing = new Thread(other::close);
        closing.start();
        assertThat(closing.join(Duration.ofMillis(300)))
                .as("closed under a running call")
                .isFalse();
        gate.countDown();

        assertThat(closing.join(Duration.ofMinutes(2))).isTrue();
        assertThat(price).isCompletedWithValueMatching(found -> found.amount() == 7);
    }

    private static String permitsOf(String limit) throws Exception {
        return get("/actuator/virtualthreads/" + limit).replaceFirst(".*?\"permits\":(\\d+).*", "$1");
    }

    private static HttpResponse<String> change(String json) throws IOException, InterruptedException {
        return send(
                request("/actuator/virtualthreads/partner")
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(json)),
                OPERATOR);
    }

    private static HttpResponse<String> end(String query) throws IOException, InterruptedException {
        return send(request("/actuator/virtualthreads/partner" + query).DELETE(), OPERATOR);
    }

    private static String get(String path) throws IOException, InterruptedException {
        HttpResponse<String> answer = send(request(path), ALICE);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return answer.body();
    }

    private static HttpRequest.Builder request(String path) {
        String port = shop.getEnvironment().getRequiredProperty("local.server.port");
        return HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                .timeout(Duration.ofMinutes(2));
    }

    private static HttpResponse<String> send(HttpRequest.Builder request, String user)
            throws IOException, InterruptedException {
        return http.send(request.header("Authorization", user).build(), BodyHandlers.ofString());
    }

    private static String basic(String user) {
        return "Basic " + Base64.getEncoder().encodeToString((user + ":secret").getBytes(StandardCharsets.UTF_8));
    }
}
