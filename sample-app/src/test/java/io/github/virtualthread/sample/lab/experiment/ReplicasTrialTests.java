package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Chart;
import io.github.virtualthread.sample.lab.Answer.Gantt;
import io.github.virtualthread.sample.lab.Answer.Line;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Answer.Span;
import io.github.virtualthread.sample.lab.Lab;
import io.github.virtualthread.sample.lab.LabRun;
import io.github.virtualthread.sample.lab.LabRun.Point;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Settings;
import io.github.virtualthread.sample.lab.Settings.Scale;
import io.github.virtualthread.sample.lab.experiment.ReplicasTrial.Part;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;

/** With the three JVMs and Redis. */
@SampleTest
@Tag("slow")
class ReplicasTrialTests {

    private static final String ID = "three-replicas";

    /** Calls so long that a busy machine can keep the partner busy, too. */
    private static final Map<String, String> SETTINGS = Map.of("millis", "300");

    private final Set<ProcessHandle> before = ProcessHandle.current().children().collect(Collectors.toSet());

    @Autowired
    private Lab lab;

    @Test
    void aRedisThatDoesNotStartSaysWhy() throws IOException {
        try (ReplicaRedis redis = ReplicaRedis.start()) {
            redis.stop();
            try (ServerSocket taken = new ServerSocket(redis.port(), 1, InetAddress.getLoopbackAddress())) {
                assertThatThrownBy(redis::goOn)
                        .as("port %d", taken.getLocalPort())
                        .hasMessageContaining("Address already in use");
            }
        }
    }

    @AfterEach
    void leavesNothing() throws IOException {
        assertThat(ProcessHandle.current().children().filter(child -> !before.contains(child)))
                .isEmpty();
        try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            assertThat(files.filter(file -> file.getFileName().toString().startsWith(TemporaryFolder.PREFIX + "redis")))
                    .isEmpty();
        }
    }

    /** A replica that gets no processor for a lease has lost it, and its calls go on beside those of the others. */
    @Test
    void sharesUseWhatALocalLimitWastesAndNeedNoRedisToGoOn() throws Throwable {
        KeptTime.during(() -> {
            Answer answer = lab.start(ID, SETTINGS, Scale.SMALL).answer().get(10, TimeUnit.MINUTES);

            Row local = answer.row(ThreeReplicas.LOCAL);
            for (Part part : List.of(Part.ONE_IDLE, Part.ONE_KILLED, Part.REDIS_STOPPED, Part.REDIS_BACK)) {
                assertThat(mean(local, part)).as(part.name()).isPositive().isLessThan(14.01);
            }
            Row shares = answer.row(ThreeReplicas.SHARES);
            assertThat(mean(shares, Part.ONE_IDLE)).isGreaterThan(14);
            // a third is kept for the one that was killed
            assertThat(mean(shares, Part.ONE_KILLED)).isBetween(14 * 2 / 3.0, 14.01);
            assertThat(mean(shares, Part.REDIS_STOPPED)).isPositive();
            assertThat(mean(shares, Part.REDIS_BACK)).isPositive();
            Row permit = answer.row(ThreeReplicas.PERMIT);
            assertThat(mean(permit, Part.ALL_BUSY)).isPositive();
            assertThat(mean(permit, Part.REDIS_STOPPED)).isZero();
            for (Row row : List.of(local, shares)) {
                assertThat(row.median("most")).as(row.name()).isPositive().isLessThanOrEqualTo(21);
                assertThat(row.median("failed")).as(row.name()).isZero();
            }
            assertThat(answer.charts())
                    .extracting(Chart::title)
                    .containsExactly(ThreeReplicas.LOCAL, ThreeReplicas.SHARES, ThreeReplicas.PERMIT);
            assertThat(answer.charts()).allSatisfy(chart -> assertThat(chart.lines())
                    .extracting(Line::name)
                    .containsExactly(chart.title(), Line.PERMITS));
            assertThat(answer.gantts())
                    .extracting(Gantt::spans)
                    .containsExactly(List.of(
                            new Span("replica 3", 3_000, 6_000, "idle"),
                            new Span("replica 2", 9_000, 18_000, "killed"),
                            new Span("Redis", 12_000, 15_000, "stopped")));
        });
    }

    private static double mean(Row row, Part part) {
        return row.median(part.column().key());
    }

    @Test
    void whereRedisDoesNotStartOnlyTheLocalLimitsAreMeasured() throws Exception {
        ThreeReplicas withoutRedis = new ThreeReplicas() {
            @Override
            String whyNoRedis() {
                return "no program for this system";
            }
        };
        Settings settings = Settings.of(withoutRedis.about().parameters(), SETTINGS, Scale.SMALL);

        Answer answer = withoutRedis.run(new Run(settings, new Unwatched()));

        assertThat(answer.rows()).extracting(Row::name).containsExactly(ThreeReplicas.LOCAL);
        assertThat(answer.notes())
                .anySatisfy(note -> assertThat(note).endsWith("The reason: no program for this system"));
        assertThat(answer.right()).isEmpty();
    }

    @Test
    void redisKeepsItsDataAndItsPortWhileItIsStopped() throws Exception {
        try (ReplicaRedis redis = ReplicaRedis.start()) {
            int port = redis.port();
            assertThat(say(port, "SET partner 21")).isEqualTo("+OK");

            redis.stop();
            redis.goOn();

            assertThat(say(port, "GET partner")).isEqualTo("$2");
        }
    }

    /** The first line of what Redis answers. */
    private static String say(int port, String command) throws IOException {
        try (var socket = new Socket("127.0.0.1", port);
                var lines = socket.getInputStream()) {
            socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.UTF_8));
            StringBuilder line = new StringBuilder();
            for (int read = lines.read(); read != '\r'; read = lines.read()) {
                line.append((char) read);
            }
            return line.toString();
        }
    }

    @Test
    void aCancelledRunLeavesNoProcess() throws Exception {
        CountDownLatch drawn = new CountDownLatch(1);
        LabRun run = lab.start(ID, SETTINGS, Scale.SMALL);
        run.listen(event -> {
            if (event instanceof Point) {
                drawn.countDown();
            }
        });
        assertThat(drawn.await(5, TimeUnit.MINUTES)).isTrue();
        assertThat(ProcessHandle.current().children().filter(child -> !before.contains(child)))
                .hasSize(1 + 3);

        run.cancel();

        assertThat(run.answer().handle((answer, failure) -> failure != null))
                .succeedsWithin(2, TimeUnit.MINUTES)
                .isEqualTo(true);
    }
}
