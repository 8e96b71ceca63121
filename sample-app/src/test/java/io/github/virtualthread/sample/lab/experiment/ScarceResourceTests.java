package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.lab.About;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Lab;
import io.github.virtualthread.sample.lab.LabRun;
import io.github.virtualthread.sample.lab.LabRun.Progress;
import io.github.virtualthread.sample.lab.Measurement;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Settings;
import io.github.virtualthread.sample.lab.Settings.Scale;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.core.io.ClassPathResource;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.web.servlet.client.RestTestClient;

@SampleTest
@TestPropertySource(properties = HeldQueries.QUERY)
@Tag("slow")
class ScarceResourceTests {

    private static final String ID = "scarce-resource";

    @Autowired
    private Lab lab;

    @Autowired
    private TaskLimits limits;

    @Autowired
    @Qualifier("scarcePool")
    private ScarcePool pool;

    private Leftovers leftovers;

    @BeforeEach
    void remember(@Autowired WebServerApplicationContext context) {
        leftovers = new Leftovers(context);
    }

    @BeforeEach
    void fixSpringsOwnLimit(@Autowired RestTestClient client) throws Exception {
        HeldQueries.makeKnownTo(pool);
        // at the first call: from now on it has the size that the pool has at rest
        client.get()
                .uri("/lab/scarce/concurrency-limit?millis=1")
                .exchange()
                .expectStatus()
                .isOk();
    }

    @AfterEach
    void letQueriesGo() {
        HeldQueries.letGo();
    }

    @Test
    void withoutALimitRequestsFailAndWithOneNone(@Autowired ScarceResource experiment) throws Exception {
        Map<String, String> chosen = Map.of(
                "users", "120", "connections", "10", "millis", "100", "timeout", "600", "wait", "300", "rounds", "1");
        Settings settings = Settings.of(experiment.about().parameters(), chosen, Scale.SMALL);

        Answer answer = experiment.run(new Run(settings, new Scarcity()));

        ScarceAnswers.assertThatWithALimitNoneFails(answer);
        assertThat(answer.row(ScarceResource.UNLIMITED).median("failed")).isPositive();
        for (String complete : List.of(
                ScarceResource.PATIENT,
                ScarceResource.CONCURRENCY_LIMIT,
                ScarceResource.VIRTUAL,
                ScarceResource.LIMITED)) {
            assertThat(answer.row(complete).median("done")).as(complete).isEqualTo(120);
        }
        for (String bounded : List.of(ScarceResource.VIRTUAL_BOUNDED, ScarceResource.LIMITED_BOUNDED)) {
            assertThat(answer.row(bounded).median("rejected")).as(bounded).isPositive();
        }
        for (Row row : answer.rows()) {
            assertThat(row.median("done") + row.median("rejected") + row.median("failed") + row.median("timedOut"))
                    .as(row.name())
                    .isEqualTo(120);
            // of each connection ten, not of the hundred that application.yml says
            assertThat(row.median("rate")).as(row.name()).isLessThanOrEqualTo(10 * 10);
        }
        assertThat(answer.sentence())
                .startsWith("Of 120 requests, ")
                .contains(" failed without a limit, and none with @VirtualThread and a limit. ");
        assertThat(answer.charts()).hasSize(9);
        assertAllIsAsBefore();
    }

    @Test
    void aCancelledRunLeavesNoCallNoThreadAndNoPort(@Autowired VirtualThreads threads) throws Exception {
        CountDownLatch virtual = new CountDownLatch(1);
        HeldQueries.hold(); // until somebody listens
        LabRun run = lab.start(
                ID, Map.of("users", "100", "connections", "10", "millis", "150", "timeout", "250"), Scale.SMALL);
        run.listen(event -> {
            if (event instanceof Progress progress
                    && progress.text().equals("Round 1 of 1: " + ScarceResource.VIRTUAL)) {
                HeldQueries.hold();
                virtual.countDown();
            }
        });
        HeldQueries.letGo();
        assertThat(virtual.await(2, TimeUnit.MINUTES)).isTrue();
        await().atMost(Duration.ofMinutes(2))
                .untilAsserted(() -> assertThat(limits.get("scarce").waiting()).isPositive());

        run.cancel();
        HeldQueries.letGo();

        assertThat(run.answer().handle((answer, failure) -> failure != null))
                .succeedsWithin(2, TimeUnit.MINUTES)
                .isEqualTo(true);
        assertThat(threads.awaitIdle(Duration.ofMinutes(2))).isTrue();
        assertAllIsAsBefore();
    }

    @Test
    void aUserWhoWaitsInVainIsNoSuccess() {
        Crowd crowd = new Crowd();
        ScarceUsers users = new ScarceUsers(crowd);

        users.answered(1_000);
        users.rejected(1);
        users.failed();
        users.timedOut();

        assertThat(crowd.count(Crowd.DONE)).isEqualTo(1);
        assertThat(crowd.count(Crowd.REJECTED)).isEqualTo(1);
        assertThat(crowd.count(Crowd.FAILED)).isEqualTo(2);
        assertThat(users.timeOuts()).isEqualTo(1);
    }

    @Test
    void theSentenceCountsWhoWaitedInVainAsFailed() {
        List<Row> rows = List.of(
                row(ScarceResource.UNLIMITED, 40, 0),
                row(ScarceResource.VIRTUAL, 0, 30),
                row(ScarceResource.VIRTUAL_BOUNDED, 0, 0));

        assertThat(ScarceResource.sentence(rows, 50))
                .startsWith(
                        "Of 50 requests, 40 failed without a limit, and 30 (30 by time-out) with @VirtualThread and a"
                                + " limit. ");
    }

    private static Row row(String name, int failed, int timedOut) {
        return Row.of(
                name,
                List.of(Measurement.of("rate", 1)
                        .and("rejected", 0)
                        .and("failed", failed)
                        .and("timedOut", timedOut)));
    }

    @Test
    void theSettingsShownAreThoseOfTheApplication() throws Exception {
        String yml = new ClassPathResource("application.yml").getContentAsString(StandardCharsets.UTF_8);
        List<String> settings = yml.lines()
                .map(line -> line.replaceFirst("#.*", "").stripTrailing())
                .toList();

        assertThat(settings).containsAll(about().yml().lines().toList());
    }

    @Test
    void theProductPageKeepsItsOwnDatabase(@Autowired DataSource products) throws Exception {
        assertThat(((HikariDataSource) products).getJdbcUrl()).doesNotContain("scarce");
    }

    private void assertAllIsAsBefore() throws InterruptedException {
        assertThat(limits.get("scarce").maxWait()).isNull();
        assertThat(limits.get("scarce").permits()).isEqualTo(100);
        assertThat(limits.get("scarce").waiting()).isZero();
        assertThat(pool.connections()).isEqualTo(100);
        leftovers.assertNone();
    }

    private About about() {
        return lab.experiments().stream()
                .filter(about -> about.id().equals(ID))
                .findFirst()
                .orElseThrow();
    }

    /** Holds the queries until it is seen that they are too few for all: however slow the machine is. */
    private static final class Scarcity extends Unwatched {

        private volatile String seenBy = "";

        @Override
        public void progress(double done, String text) {
            seenBy = switch (text.replaceFirst("Round 1 of 1: ", "")) {
                case ScarceResource.UNLIMITED -> "failed";
                case ScarceResource.VIRTUAL_BOUNDED, ScarceResource.LIMITED_BOUNDED -> "rejected";
                default -> "";
            };
            if (!seenBy.isEmpty()) {
                HeldQueries.hold();
            }
        }

        @Override
        public void point(String line, double x, double y) {
            if (line.equals(seenBy) && y > 0) {
                HeldQueries.letGo();
            }
        }
    }
}
