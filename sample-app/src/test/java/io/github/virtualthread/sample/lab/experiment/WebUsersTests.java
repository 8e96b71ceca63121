package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.lab.Measurement;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.web.server.LocalServerPort;

@SampleTest
class WebUsersTests {

    private static final String QUICK = "/lab/requests/quick?request=";
    private static final Duration PATIENT = Duration.ofMinutes(2);

    private final List<Integer> gone = new CopyOnWriteArrayList<>();
    private final Tally tally = new Tally();

    @LocalServerPort
    private int port;

    @Test
    void eachUserAsksOnceAndIsTold() throws Exception {
        Measurement measured = ask(load(port, QUICK, 5, Duration.ZERO, Duration.ZERO, 100));

        assertThat(measured.figures())
                .containsEntry("answered", 5.0)
                .containsEntry("failed", 0.0)
                .containsEntry("timedOut", 0.0);
        assertThat(gone).containsExactlyInAnyOrderElementsOf(numbers(5));
    }

    @Test
    void usersComeOneAfterTheOther() throws Exception {
        WebUsers.Spent spent =
                WebUsers.ask(load(port, QUICK, 3, Duration.ofMillis(300), Duration.ZERO, 100), tally, gone::add);

        // the last third of the time has nobody left to come
        assertThat(spent.seconds()).isGreaterThanOrEqualTo(0.2);
        assertThat(tally.answered()).isEqualTo(3);
    }

    @Test
    void usersWhoAskAgainSendNoMoreThanAllMay() throws Exception {
        Measurement measured = ask(load(port, QUICK, 3, Duration.ZERO, Duration.ofMinutes(1), 50));

        assertThat(measured.figures()).containsEntry("answered", 50.0);
        assertThat(gone).containsExactlyInAnyOrderElementsOf(numbers(50));
    }

    @Test
    void usersAskAgainUntilTheTimeIsOver() throws Exception {
        WebUsers.Spent spent = WebUsers.ask(
                load(port, QUICK, 2, Duration.ZERO, Duration.ofMillis(300), Integer.MAX_VALUE), tally, gone::add);

        assertThat(spent.seconds()).isGreaterThanOrEqualTo(0.3);
        assertThat(tally.answered()).isGreaterThanOrEqualTo(2);
    }

    @Test
    void anAnswerThatIsNoSuccessIsAFailureAndEndsTheUser() throws Exception {
        Measurement measured = ask(load(port, "/lab/no-such?request=", 4, Duration.ZERO, Duration.ofMinutes(1), 50));

        assertThat(measured.figures()).containsEntry("failed", 4.0).containsEntry("answered", 0.0);
    }

    @Test
    void whereNobodyListensAllFail() throws Exception {
        try (Socket socket = new Socket()) { // keeps the port, so that nobody else can listen there
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));

            Measurement measured = ask(load(socket.getLocalPort(), QUICK, 4, Duration.ZERO, Duration.ZERO, 50));

            assertThat(measured.figures()).containsEntry("failed", 4.0);
        }
        assertThat(gone).containsExactlyInAnyOrderElementsOf(numbers(4));
    }

    @Test
    void whoWaitsTooLongAsksAgainOnANewConnection() throws Exception {
        WebUsers.Load load = new WebUsers.Load(
                port,
                "/lab/requests/block?millis=5000&request=",
                2,
                Duration.ZERO,
                Duration.ofMinutes(1),
                6,
                Duration.ofMillis(100));

        assertThat(ask(load).figures()).containsEntry("timedOut", 6.0).containsEntry("answered", 0.0);
        assertThat(gone).containsExactlyInAnyOrderElementsOf(numbers(6));
    }

    @Test
    void anAnswerThatIsReadTooLateIsNoSuccess() throws Exception {
        Duration timeout = Duration.ofMillis(500);
        // a server that has answered nobody yet may take longer
        WebUsers.ask(load(port, QUICK, 1, Duration.ZERO, Duration.ZERO, 1), new Tally(), gone::add);
        WebUsers.Load load = new WebUsers.Load(port, QUICK, 2, Duration.ZERO, Duration.ZERO, 2, timeout);

        // the one thread of the users is held up, while the other answer is there already
        WebUsers.ask(
                load, tally, number -> assertThat(new CompletableFuture<>()).failsWithin(timeout.plusMillis(100)));

        // none where the machine was as slow for the first
        assertThat(tally.answered()).isLessThanOrEqualTo(1);
    }

    @Test
    void afterTheEndNobodyWaitsAndNobodyAsksAgain() throws Exception {
        WebUsers.Load load = new WebUsers.Load(
                port,
                "/lab/requests/block?millis=5000&request=",
                3,
                Duration.ZERO,
                Duration.ofMillis(100),
                100,
                PATIENT,
                Duration.ofMillis(300));

        assertThat(ask(load).figures()).containsEntry("timedOut", 3.0).containsEntry("answered", 0.0);
    }

    @Test
    void whoIsRejectedComesBackAfterAPauseIfThereIsOne() throws Exception {
        Queue<String> seen = new ConcurrentLinkedQueue<>();
        try (DoorServer server =
                DoorServer.start(new FairPool(0, Duration.ofMillis(1), Duration.ZERO), true, Map.of())) {
            ask(rejected(server, 4, Duration.ofMillis(200)), seen);
            assertThat(seen).as("two users, twice each").hasSize(8).doesNotContain("answered", "failed");
            seen.clear();
            ask(rejected(server, 4, Duration.ZERO), seen);
            assertThat(seen).containsOnly("asked", "rejected").hasSize(4);
            seen.clear();
            ask(rejected(server, 4, Duration.ofMinutes(2)), seen);
            assertThat(seen)
                    .as("nobody waits for a pause that outlasts the loop")
                    .hasSize(4);
        }
    }

    private static WebUsers.Load rejected(DoorServer server, int requests, Duration pause) {
        return new WebUsers.Load(
                server.port(),
                DoorServer.PATH,
                2,
                Duration.ZERO,
                Duration.ofMinutes(1),
                requests,
                PATIENT,
                PATIENT,
                pause);
    }

    /** Remembers who was told what. */
    private static WebUsers.Spent ask(WebUsers.Load load, Queue<String> seen) throws Exception {
        return WebUsers.ask(
                load,
                new WebUsers.Outcomes() {
                    @Override
                    public void asked() {
                        seen.add("asked");
                    }

                    @Override
                    public void answered(long nanoseconds) {
                        seen.add("answered");
                    }

                    @Override
                    public void rejected(long nanoseconds) {
                        seen.add("rejected");
                    }

                    @Override
                    public void failed() {
                        seen.add("failed");
                    }

                    @Override
                    public void timedOut() {
                        seen.add("timed out");
                    }
                },
                request -> {});
    }

    private Measurement ask(WebUsers.Load load) throws Exception {
        return tally.measured(WebUsers.ask(load, tally, gone::add));
    }

    private static WebUsers.Load load(int port, String path, int users, Duration ramp, Duration loop, int requests) {
        return new WebUsers.Load(port, path, users, ramp, loop, requests, PATIENT);
    }

    private static List<Integer> numbers(int count) {
        return IntStream.range(0, count).boxed().toList();
    }
}
