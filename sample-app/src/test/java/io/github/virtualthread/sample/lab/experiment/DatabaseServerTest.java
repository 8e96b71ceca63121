package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import io.github.virtualthread.sample.SampleApplication;
import io.github.virtualthread.sample.lab.About;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Lab;
import io.github.virtualthread.sample.lab.Settings.Scale;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.NestedExceptionUtils;

/** What holds with a real database server, as it holds with H2. */
@Timeout(value = 15, unit = TimeUnit.MINUTES)
@Tag("slow")
abstract class DatabaseServerTest {

    private final String profile;
    private final String product;

    DatabaseServerTest(String profile, String product) {
        this.profile = profile;
        this.product = product;
    }

    @Test
    void runsTheExperimentsAndLeavesNothingBehind() throws Exception {
        List<Path> before = folders();
        String url;
        try (ConfigurableApplicationContext context = start()) {
            Lab lab = context.getBean(Lab.class);
            Answer answer = lab.start(
                            "scarce-resource",
                            Map.of(
                                    "users",
                                    "60",
                                    "connections",
                                    "10",
                                    "millis",
                                    "100",
                                    "timeout",
                                    "5000",
                                    "wait",
                                    "200",
                                    "rounds",
                                    "1"),
                            Scale.SMALL)
                    .answer()
                    .get(10, TimeUnit.MINUTES);

            ScarceAnswers.assertThatWithALimitNoneFails(answer);
            assertThat(answer.row(ScarceResource.VIRTUAL).median("done")).isEqualTo(60);
            // the query takes its time: of each connection ten a second
            assertThat(answer.row(ScarceResource.VIRTUAL).median("rate")).isLessThanOrEqualTo(10 * 10);
            assertThat(answer.notes()).anySatisfy(note -> assertThat(note).startsWith("The database is " + product));
            assertThat(notShown(lab)).contains(product);
            assertOnlyACancelledStatementKeepsTheLimit(lab);
            assertThat(folders()).hasSizeGreaterThan(before.size());
            url = context.getBean(ScarceServer.class).url();
        }

        assertThat(folders()).isEqualTo(before);
        assertThatThrownBy(() -> DriverManager.getConnection(url)).isInstanceOf(SQLException.class);
    }

    private static void assertOnlyACancelledStatementKeepsTheLimit(Lab lab) throws Exception {
        Answer answer = lab.start(
                        "database-stops",
                        Map.of("connections", "4", "waves", "3", "seconds", "4", "rounds", "1"),
                        Scale.SMALL)
                .answer()
                .get(5, TimeUnit.MINUTES);

        Row interrupt = answer.row(DatabaseStops.INTERRUPT);
        assertThat(interrupt.median(StoppedQueries.MOST.key())).isGreaterThan(4);
        assertThat(interrupt.median(StoppedQueries.LEFT.key())).isPositive();
        assertThat(interrupt.median(StoppedQueries.LOST.key())).isPositive();
        Row statement = answer.row(DatabaseStops.STATEMENT);
        assertThat(statement.median(StoppedQueries.MOST.key())).isPositive().isLessThanOrEqualTo(4);
        assertThat(statement.median(StoppedQueries.LEFT.key())).isZero();
        assertThat(statement.median(StoppedQueries.LOST.key())).isZero();
        assertThat(answer.right()).isEqualTo(DatabaseStops.BY_INTERRUPT);
    }

    private ConfigurableApplicationContext start() {
        try {
            return new SpringApplicationBuilder(SampleApplication.class)
                    .profiles(profile)
                    .run(
                            "--server.port=0",
                            "--scarce.timeout=1s"); // long enough to send the query, on a busy machine too
        } catch (RuntimeException failure) {
            if (NestedExceptionUtils.getMostSpecificCause(failure) instanceof MissingServer missing) {
                return abort(missing.getMessage());
            }
            throw failure;
        }
    }

    private List<Path> folders() throws IOException {
        try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            return files.filter(file -> file.getFileName().toString().startsWith(TemporaryFolder.PREFIX + profile))
                    .sorted()
                    .toList();
        }
    }

    private static String notShown(Lab lab) {
        return lab.experiments().stream()
                .filter(about -> about.id().equals("scarce-resource"))
                .map(About::notShown)
                .findFirst()
                .orElseThrow();
    }
}
