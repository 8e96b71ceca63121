package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Lab;
import io.github.virtualthread.sample.lab.LabRun;
import io.github.virtualthread.sample.lab.LabRun.Event;
import io.github.virtualthread.sample.lab.LabRun.Point;
import io.github.virtualthread.sample.lab.Parameter;
import io.github.virtualthread.sample.lab.Settings;
import io.github.virtualthread.sample.lab.Settings.Scale;
import java.time.Duration;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.web.servlet.client.RestTestClient;

@SampleTest
@Tag("slow")
class PoolOrVirtualTests {

    @Test
    void aPoolTakesAsManyTurnsAsItsSizeAsksForAndVirtualThreadsOne(@Autowired Lab lab) throws Exception {
        List<Event> events = new CopyOnWriteArrayList<>();
        LabRun run = lab.start("pool-or-virtual", Map.of("tasks", "40", "millis", "100", "rounds", "1"), Scale.SMALL);
        run.listen(events::add);

        Answer answer = run.answer().get(10, TimeUnit.MINUTES);

        assertThat(answer.row("fixed pool of 10").median("millis")).isGreaterThanOrEqualTo(400);
        assertThat(answer.row("fixed pool of 10").median("threads")).isEqualTo(10);
        assertThat(answer.row("Spring Boot's default pool of 8").median("millis"))
                .isGreaterThanOrEqualTo(500);
        assertThat(answer.row("Spring Boot's default pool of 8").median("threads"))
                .isEqualTo(8);
        assertThat(answer.row("cached pool of at most 2,000").median("threads")).isEqualTo(40);
        assertThat(answer.row("@VirtualThread").median("millis")).isGreaterThanOrEqualTo(100);
        Comparator<Answer.Row> byTime = Comparator.comparingDouble(row -> row.median("millis"));
        assertThat(answer.sentence())
                .startsWith("40 tasks of 100 ms took ")
                .contains(" with %s and "
                        .formatted(Collections.min(answer.rows(), byTime).name()))
                .contains(" with %s: "
                        .formatted(Collections.max(answer.rows(), byTime).name()));
        assertThat(events.stream().filter(Point.class::isInstance).map(Point.class::cast))
                .filteredOn(point -> point.line().equals("@VirtualThread"))
                .last()
                .extracting(Point::y)
                .isEqualTo(40.0);
    }

    @Test
    void allTasksOnVirtualThreadsWaitAtOnce(@Autowired BlockingTasks tasks, @Autowired RestTestClient client)
            throws Exception {
        OpenTasks waiting = new OpenTasks(40);
        try {
            for (int i = 0; i < 40; i++) {
                waiting.add(i, tasks.virtual(Duration.ofMinutes(10)));
            }

            await().atMost(Duration.ofMinutes(2))
                    .untilAsserted(() -> assertThat(dump(client).split("\"vt-BlockingTasks.virtual-", -1))
                            .hasSize(1 + 40));
        } finally {
            waiting.cancel();
        }
    }

    private static String dump(RestTestClient client) {
        return client.get()
                .uri("/actuator/virtualthreaddump")
                .exchange()
                .expectBody(String.class)
                .returnResult()
                .getResponseBody();
    }

    @Test
    void aPoolThatWouldTakeTooLongIsLeftOutAndSaidSo(@Autowired Lab lab) throws Exception {
        Answer answer = lab.start(
                        "pool-or-virtual", Map.of("tasks", "2000", "millis", "310", "rounds", "1"), Scale.SMALL)
                .answer()
                .get(10, TimeUnit.MINUTES);

        assertThat(answer.rows())
                .extracting(Answer.Row::name)
                .containsExactly("cached pool of at most 2,000", "@Async on virtual threads", "@VirtualThread");
        assertThat(answer.notes())
                .containsExactly(
                        "Left out: fixed pool of 10 would take 62 s",
                        "Left out: Spring Boot's default pool of 8 would take 77 s");
    }

    @Test
    void whatHasNoRoomInTheHeapIsLeftOutWithTheOptionThatHelps(@Autowired Lab lab, @Autowired PoolOrVirtual experiment)
            throws Exception {
        assumeThat(Runtime.getRuntime().maxMemory())
                .as("a heap in which five million tasks find room")
                .isLessThan(10L << 30);
        Settings settings = Settings.of(
                experiment.about().parameters(),
                Map.of("tasks", "5000000", "rounds", "1"),
                Scale.SMALL,
                Parameter::mostInTerminal,
                Parameter::name);

        Answer answer = lab.start("pool-or-virtual", settings).answer().get(10, TimeUnit.MINUTES);

        assertThat(answer.rows()).isEmpty();
        assertThat(answer.sentence()).isEqualTo("None of them can run 5,000,000 tasks of 250 ms here.");
        assertThat(answer.notes())
                .filteredOn(note -> note.contains("-Dspring-boot.run.jvmArguments=-Xmx"))
                .extracting(note -> note.substring(0, note.indexOf(" would need ")))
                .containsExactly("Left out: @Async on virtual threads", "Left out: @VirtualThread");
    }
}
