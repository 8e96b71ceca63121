package com.acme.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.acme.shop.Exchange.Answer;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.limit.TaskLimit.Occupation;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringBootVersion;

/** Under a context path, with Actuator on the same port: two permits, two places in the queue. */
@Timeout(300)
class DoorTests {

    private static Shop shop;

    @BeforeAll
    static void start() {
        shop = new Shop(
                "server.servlet.context-path=/shop",
                // Tomcat and Jetty wait for answers that nobody ends when their clients have gone
                "server.shutdown=immediate");
    }

    @AfterAll
    static void stop() {
        shop.close();
    }

    @AfterEach
    void allPermitsAreBack() throws Exception {
        shop.awaitAllPermits();
    }

    @Test
    void itRunsInTheContainerOnTheSpringBootAndTheJavaThatWereAskedFor() throws Exception {
        assertThat(shop.webServer()).startsWithIgnoringCase(System.getProperty("expected.container"));
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

    @ParameterizedTest
    @CsvSource({
        "/plain, 200, plain",
        "/throws, 500, ''",
        "/error-of-the-jvm, 500, ''",
        "/nowhere, 404, ''",
        "/deferred-already, 200, already",
        "/deferred-times-out, 503, ''",
        "/sse-times-out, 200, first",
        "/sse-at-once, 200, last",
        "/raw-complete, 200, ''",
        "/raw-throws, 500, ''",
        "/raw-times-out, 500, ''",
        "/raw-dispatched, 200, end",
        "/raw-twice, 200, end",
        "/gated, 200, 'gated, deadline true'"
    })
    void anAnswerGivesItsPermitBack(String path, int status, String text) throws Exception {
        int finished = shop.ledger.finished.get();

        Answer answer = shop.get(path);

        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.text()).contains(text);
        assertThat(answer.header("Retry-After")).isNull();
        await().atMost(Duration.ofMinutes(4))
                .untilAsserted(() -> assertThat(shop.ledger.finished).hasValue(finished + 1));
    }

    @ParameterizedTest
    @CsvSource({
        "/deferred, 200, deferred",
        "/deferred-fails, 500, ''",
        "/future, 200, future",
        "/callable, 200, callable",
        "/callable-throws, 500, ''",
        "/stream, 200, last",
        "/sse, 200, last",
        "/sse-given-up, 200, last",
        "/raw, 200, ''"
    })
    void anAsynchronousAnswerHoldsItsPermitUntilItsEnd(String path, int status, String text) throws Exception {
        String id = Shop.newId();
        Meeting meeting = shop.meetings.of(id);
        int finished = shop.ledger.finished.get();

        Exchange exchange = shop.send(path, id);
        Meeting.await(meeting.left);
        assertThat(shop.web.inUse()).isEqualTo(1);
        meeting.gate.countDown();

        Answer answer = exchange.read();
        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.text()).contains(text);
        await().atMost(Duration.ofMinutes(4))
                .untilAsserted(() -> assertThat(shop.ledger.finished).hasValue(finished + 1));
    }

    @Test
    void theThreadThatWritesAnAsynchronousAnswerHasThePermitAndTheDeadlineOfItsRequest() throws Exception {
        String id = Shop.newId();
        Meeting meeting = shop.meetings.of(id);
        Exchange exchange = shop.send("/callable", id + "&again=");
        Meeting.await(meeting.left);
        try (Occupation occupation = shop.web.occupy()) {
            meeting.gate.countDown();

            assertThat(exchange.read().header("X-Async")).isEqualTo("ran again, deadline true");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"/sse-without-end", "/stream-without-end", "/sse", "/sse-given-up", "/stream", "/raw-given-up"})
    void aClientThatGoesAwayInTheMidstOfItsAnswerGivesThePermitBackWithTheNextWrite(String path) throws Exception {
        String id = Shop.newId();
        Exchange exchange = shop.send(path, id);
        exchange.readUntil("first");
        Meeting.await(shop.meetings.of(id).left);
        assertThat(shop.web.inUse()).isEqualTo(1);

        exchange.breakOff();
        shop.meetings.of(id).gate.countDown();

        shop.awaitAllPermits();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/deferred",
                "/deferred-fails",
                "/future",
                "/callable",
                "/callable-throws",
                "/gated",
                "/sse-at-once"
            })
    void aClientThatGoesAwayBeforeItsAnswerGivesThePermitBackWhenTheResultIsThere(String path) throws Exception {
        String id = Shop.newId();
        Meeting meeting = shop.meetings.of(id);
        Exchange exchange = shop.send(path, id);
        Meeting.await(path.matches("/gated|/sse-at-once") ? meeting.begun : meeting.left);
        assertThat(shop.web.inUse()).isEqualTo(1);

        exchange.breakOff();
        meeting.gate.countDown();

        shop.awaitAllPermits();
    }

    @Test
    void theSurplusIsAnswered503AndTheOthersAreServedInTheOrderOfTheirArrival() throws Exception {
        double counted = count503();
        List<String> ids = new ArrayList<>();
        List<Exchange> served = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            String id = Shop.newId();
            ids.add(id);
            served.add(shop.send("/gated", id));
            if (i < 2) {
                Meeting.await(shop.meetings.of(id).begun);
            } else {
                shop.awaitWaiting(i - 1);
            }
        }

        for (int i = 0; i < 3; i++) {
            Answer refused = shop.get("/gated");
            assertThat(refused.status()).isEqualTo(503);
            assertThat(refused.header("Retry-After")).isEqualTo("1");
        }

        shop.meetings.of(ids.get(1)).gate.countDown();
        Meeting.await(shop.meetings.of(ids.get(2)).begun);
        assertThat(shop.meetings.of(ids.get(3)).begun.getCount()).isEqualTo(1);
        shop.meetings.of(ids.get(0)).gate.countDown();
        Meeting.await(shop.meetings.of(ids.get(3)).begun);
        shop.meetings.of(ids.get(2)).gate.countDown();
        shop.meetings.of(ids.get(3)).gate.countDown();
        for (Exchange exchange : served) {
            assertThat(exchange.read().status()).isEqualTo(200);
        }
        await().atMost(Duration.ofMinutes(4))
                .untilAsserted(() -> assertThat(count503()).isEqualTo(counted + 3));
    }

    @Test
    void aRequestThatHasWaitedForTooLongIsAnswered503() throws Exception {
        shop.web.setMaxWait(Duration.ofMillis(1));
        try (Occupation occupation = shop.web.occupy()) {
            Answer refused = shop.get("/plain");

            assertThat(refused.status()).isEqualTo(503);
            assertThat(refused.header("Retry-After")).isEqualTo("1");
        } finally {
            shop.web.setMaxWait(Duration.ofMinutes(5));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"/actuator", "/actuator/health", "/actuator/health/edge", "/edgez", "/livez", "/readyz", "/ping"
            })
    void whatTellsAboutTheApplicationAndWhatIsExcludedIsAnsweredWhileTheLimitIsFull(String path) throws Exception {
        int submitted = shop.ledger.submitted.get();
        try (Occupation occupation = shop.web.occupy()) {
            assertThat(shop.get(path).status()).isEqualTo(200);
        }
        assertThat(shop.ledger.submitted).hasValue(submitted);
    }

    @Test
    void anExcludedAnswerHoldsNoPermit() throws Exception {
        String id = Shop.newId();
        try (Occupation occupation = shop.web.occupy();
                Exchange exchange = shop.send("/events/sse", id)) {
            exchange.readUntil("first");
            shop.meetings.of(id).gate.countDown();
            exchange.readUntil("last");
        }
    }

    @Test
    void everyOtherRequestWaitsWhileTheLimitIsFull() throws Exception {
        String id = Shop.newId();
        Exchange exchange;
        try (Occupation occupation = shop.web.occupy()) {
            exchange = shop.send("/plain", id);
            shop.awaitWaiting(1);
            assertThat(shop.meetings.of(id).begun.getCount()).isEqualTo(1);
        }
        assertThat(exchange.read().status()).isEqualTo(200);
    }

    private static double count503() {
        return shop
                .context
                .getBean(MeterRegistry.class)
                .find("http.server.requests")
                .tag("status", "503")
                .timers()
                .stream()
                .mapToLong(Timer::count)
                .sum();
    }
}
