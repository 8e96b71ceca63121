package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Line;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Lab;
import io.github.virtualthread.sample.lab.LabRun;
import io.github.virtualthread.sample.lab.LabRun.Point;
import io.github.virtualthread.sample.lab.Latencies;
import io.github.virtualthread.sample.lab.Ranges;
import io.github.virtualthread.sample.lab.Settings.Scale;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.web.server.context.WebServerApplicationContext;

@SampleTest
@Tag("slow")
class TheDoorTests {

    private static final String ID = "the-door";

    @Autowired
    private Lab lab;

    private Leftovers leftovers;

    @BeforeEach
    void remember(@Autowired WebServerApplicationContext context) {
        leftovers = new Leftovers(context);
    }

    /** 10 places for a second, so of 60 users who come within a second 10 at most are done before all have come. */
    @Test
    void theDoorRefusesSoonerThanThePoolAndDoesNoMore() throws Throwable {
        KeptTime.during(() -> {
            Answer answer = ofOneSecond(Map.of("queue", "10", "wait", "60000", "millis", "1000", "timeout", "1500"));

            assertThat(answer.rows())
                    .extracting(Row::name)
                    .containsExactly(TheDoor.DOOR, TheDoor.VIRTUAL, TheDoor.PLATFORM)
                    .allSatisfy(name -> {
                        Row row = answer.row(name);
                        assertThat(row.median(TheDoor.DONE.key()))
                                .as(name)
                                .isPositive()
                                .isLessThanOrEqualTo(10);
                        assertThat(row.median(Latencies.P50.key())).as(name).isGreaterThanOrEqualTo(1_000);
                        assertThat(row.median(Tally.FAILED.key())).as(name).isZero();
                    });
            Row door = answer.row(TheDoor.DOOR);
            Row virtual = answer.row(TheDoor.VIRTUAL);
            Row platform = answer.row(TheDoor.PLATFORM);
            assertThat(virtual.median(DoorTally.TOLD.key())).isGreaterThanOrEqualTo(1_500);
            assertThat(door.median(DoorTally.TOLD.key())).isLessThan(1_500);
            assertThat(platform.median(DoorTally.REFUSED.key())).isZero();
            assertThat(platform.figures()).doesNotContainKey(DoorTally.TOLD.key());
            assertThat(answer.charts().getFirst().lines())
                    .extracting(Line::name)
                    .containsExactly(TheDoor.DOOR, TheDoor.VIRTUAL, TheDoor.PLATFORM);
            assertThat(answer.charts().getFirst().lines())
                    .allSatisfy(line -> assertThat(line.points().getLast()[1])
                            .as(line.name())
                            .isZero());
            assertThat(answer.notes()).anySatisfy(note -> assertThat(note)
                    .startsWith("The pool behind serves 10 requests at once")
                    .endsWith(TheDoor.honestly(answer.rows(), new Ranges(1))));
            assertThat(answer.notes()).anySatisfy(note -> assertThat(note)
                    .contains("here 10 / 10 x 1,000 ms = 1,000 ms, but at most max-wait, here 60,000 ms"));
            leftovers.assertNone();
        });
    }

    /** The pool refuses at once all whom it cannot serve, the door only after its max-wait. */
    @Test
    void aDoorThatLetsRequestsWaitLongerThanThePoolRefusesLater() throws Exception {
        Answer answer = ofOneSecond(Map.of("queue", "60", "wait", "5000", "millis", "2000", "timeout", "1"));

        assertThat(answer.row(TheDoor.DOOR).median(DoorTally.TOLD.key())).isGreaterThanOrEqualTo(5_000);
        assertThat(answer.row(TheDoor.VIRTUAL).median(DoorTally.TOLD.key())).isLessThan(5_000);
        assertThat(answer.right()).isNotIn(TheDoor.SOONER, TheDoor.NOTHING);
        assertThat(answer.notes().getFirst())
                .doesNotContain("The door refuses at once what the pool would refuse later");
        leftovers.assertNone();
    }

    /** 60 users come once, for 10 places. */
    private Answer ofOneSecond(Map<String, String> others) throws Exception {
        Map<String, String> chosen = new HashMap<>(others);
        chosen.putAll(Map.of("users", "60", "places", "10", "pause", "10000", "seconds", "1"));
        return lab.start(ID, chosen, Scale.SMALL).answer().get(10, TimeUnit.MINUTES);
    }

    @Test
    void aCancelledRunLeavesNoServer() throws Exception {
        CountDownLatch asked = new CountDownLatch(4); // drawn at intervals: by now requests are served
        LabRun run =
                lab.start(ID, Map.of("users", "300", "places", "10", "millis", "5000", "timeout", "5000"), Scale.SMALL);
        run.listen(event -> {
            if (event instanceof Point point && point.line().equals(TheDoor.VIRTUAL)) {
                asked.countDown();
            }
        });
        assertThat(asked.await(5, TimeUnit.MINUTES)).isTrue();

        run.cancel();

        assertThat(run.answer().handle((answer, failure) -> failure != null))
                .succeedsWithin(2, TimeUnit.MINUTES)
                .isEqualTo(true);
        leftovers.assertNone();
    }
}
