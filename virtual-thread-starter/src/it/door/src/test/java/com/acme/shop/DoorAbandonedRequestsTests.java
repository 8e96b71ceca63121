package com.acme.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.limit.TaskLimit.Occupation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients of HTTP/1.1 go away, or stay, and their requests make calls of every kind. */
@Timeout(300)
@EnabledOnOs(OS.LINUX) // the others do not tell of clients that have gone
class DoorAbandonedRequestsTests {

    private static final Duration LONG = Duration.ofMinutes(4);

    private static Shop shop;
    private static Errors errors;

    @BeforeAll
    static void start() {
        shop = Shop.cancelling();
        errors = Errors.collect();
    }

    @AfterAll
    static void stop() {
        shop.close();
    }

    @AfterEach
    void allPermitsAreBack() {
        await().atMost(LONG).until(() -> shop.limit("work").available() == 100);
        errors.assertNone();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/work/future", "/work/join"})
    void aClientThatGoesAwayEndsItsCallWhateverTheController(String path) throws Exception {
        String id = Shop.newId();
        try (Exchange leaving = shop.send(path, id)) {
            Meeting.await(shop.meetings.of(id).bodyBegun);
        }
        Meeting.await(shop.meetings.of(id).bodyInterrupted);
    }

    /** It leaves without having read the first event, so the connection is reset: it must have been seen before. */
    @Test
    void aClientThatLeavesASilentStreamEndsItsCall() throws Exception {
        String id = Shop.newId();
        try (Exchange leaving = shop.send("/work/sse", id)) {
            Meeting.await(shop.meetings.of(id).bodyBegun);
            shop.awaitLook();
        }
        Meeting.await(shop.meetings.of(id).bodyInterrupted);
    }

    /** It has closed its side, and nobody can know whether it reads. */
    @Test
    void aClientThatSendsNoMoreHasGone() throws Exception {
        String id = Shop.newId();
        try (Exchange half = shop.send("/work/future", id)) {
            Meeting.await(shop.meetings.of(id).bodyBegun);
            half.closeHalf();
            Meeting.await(shop.meetings.of(id).bodyInterrupted);
        }
    }

    @Test
    void whatNobodyWaitsForGoesOn() throws Exception {
        String id = Shop.newId();
        Meeting mail = shop.meetings.of("mail-" + id);
        try (Exchange leaving = shop.send("/work/mail", id)) {
            Meeting.await(mail.bodyBegun);
            Meeting.await(shop.meetings.of(id).bodyBegun);
        }
        Meeting.await(shop.meetings.of(id).bodyInterrupted);
        shop.awaitLook();

        mail.gate.countDown();
        Meeting.await(mail.bodyEnded);
        assertThat(mail.bodyInterrupted.getCount()).isEqualTo(1);
    }

    @Test
    void anExcludedRequestIsLeftAlone() throws Exception {
        String id = Shop.newId();
        try (Exchange leaving = shop.send("/events/work", id)) {
            Meeting.await(shop.meetings.of(id).bodyBegun);
        }
        shop.awaitLook();

        assertGoesOn(id);
    }

    /** Whoever has got the answer goes away, as all do. */
    @Test
    void afterTheAnswerTheCallsThatNobodyHasLookedAtGoOn() throws Exception {
        String id = Shop.newId();
        assertThat(shop.send("/work/unseen", id).read().body()).isEqualTo("unseen true");
        Meeting.await(shop.meetings.of(id).bodyBegun);
        shop.awaitLook();

        assertGoesOn(id);
    }

    private static void assertGoesOn(String id) {
        Meeting meeting = shop.meetings.of(id);
        assertThat(meeting.bodyInterrupted.getCount()).isEqualTo(1);
        meeting.gate.countDown();
        Meeting.await(meeting.bodyEnded);
    }

    @Test
    void whatTheContainerHasEndedByItsTimeoutEndsItsCalls() throws Exception {
        String id = Shop.newId();

        assertThat(shop.send("/work/times-out", id).read().status()).isEqualTo(503);

        Meeting.await(shop.meetings.of(id).bodyInterrupted);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/work/future", "/work/join"})
    void pipelinedRequestsOfOneThatStaysAreAnswered(String path) throws Exception {
        String first = Shop.newId();
        String second = Shop.newId();
        try (Exchange staying = Exchange.connect(shop.port())) {
            staying.write(pipelined(path, first, second));
            Meeting.await(shop.meetings.of(first).bodyBegun);
            shop.awaitLook();

            shop.meetings.of(first).gate.countDown();
            Meeting.await(shop.meetings.of(second).bodyBegun);
            shop.meetings.of(second).gate.countDown(); // Undertow keeps the first answer until it has the second
            assertThat(staying.readOne().body()).isEqualTo(first);
            assertThat(staying.readOne().body()).isEqualTo(second);
        }
    }

    /** The server cannot see that: what has not been read is before the end of the connection. */
    @Test
    void oneThatGoesAwayAfterPipelinedRequestsEndsItsCallAndBeginsNone() throws Exception {
        String id = Shop.newId();
        String next = Shop.newId();
        try (Exchange leaving = Exchange.connect(shop.port())) {
            leaving.write(pipelined("/work/future", id, next));
            Meeting.await(shop.meetings.of(id).bodyBegun);
        }
        Meeting.await(shop.meetings.of(id).bodyInterrupted);
        await().atMost(LONG).until(() -> shop.limit("work").available() == 100);
        shop.awaitLook();

        assertThat(shop.meetings.of(next).bodyBegun.getCount()).isEqualTo(1);
    }

    private static String pipelined(String path, String first, String second) {
        String request = "GET %s?id=%s HTTP/1.1\r\nHost: localhost\r\n\r\n";
        return request.formatted(path, first) + request.formatted(path, second);
    }

    @Test
    void whoGoesAwayWhileItWaitsAtTheDoorLeavesTheQueue() throws Exception {
        int places = 20;
        int leave = 15;
        try (Shop door = new Shop(
                        "virtual-thread.web.cancel-abandoned=true",
                        "virtual-thread.limits.web.queue-capacity=" + places);
                Occupation occupation = door.web.occupy()) {
            List<Exchange> clients = new ArrayList<>();
            List<String> ids = new ArrayList<>();
            for (int i = 0; i < places; i++) {
                ids.add(Shop.newId());
                clients.add(door.send("/gated", ids.get(i)));
                door.awaitWaiting(i + 1);
            }

            for (Exchange leaving : clients.subList(0, leave)) {
                leaving.close();
            }
            door.awaitWaiting(places - leave);
            await().atMost(LONG).until(() -> door.answered(499) == leave);
            assertThat(door.clientGone("web")).isEqualTo(leave);

            occupation.close();
            for (int i = leave; i < places; i++) {
                door.meetings.of(ids.get(i)).gate.countDown();
                assertThat(clients.get(i).read().status()).isEqualTo(200);
            }
            assertThat(door.meetings.begun).hasValue(places - leave);
            door.awaitAllPermits();
        }
    }
}
