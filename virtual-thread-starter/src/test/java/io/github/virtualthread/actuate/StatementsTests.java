package io.github.virtualthread.actuate;

import static io.github.virtualthread.actuate.EndpointApplication.open;
import static io.github.virtualthread.actuate.EndpointApplication.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.actuate.EndpointApplication.Answer;
import io.github.virtualthread.actuate.VirtualThreadsEndpoint.CallDescriptor;
import io.github.virtualthread.jdbc.CancellableDataSource;
import io.github.virtualthread.jdbc.FakeDriver;
import io.github.virtualthread.jdbc.FakeDriver.Held;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;

/** What GET shows of SQL, and calls that are cancelled while the database runs their statements. */
@Timeout(300)
class StatementsTests {

    private static final String SQL = "select hold(?) from   (values 1)\n\twhere 'Smith' <> ''  ";

    private static CountDownLatch running = new CountDownLatch(1);
    private static CountDownLatch release = new CountDownLatch(1);

    /** Public, for H2. */
    public static final class Functions {

        private Functions() {}

        /** No interrupt and no cancel ends it. */
        public static int hold(String value) {
            running.countDown();
            while (true) {
                try {
                    release.await();
                    return value.length();
                } catch (InterruptedException ignored) {
                    // goes on
                }
            }
        }
    }

    @AfterEach
    void newLatches() {
        release.countDown();
        running = new CountDownLatch(1);
        release = new CountDownLatch(1);
    }

    private static WebApplicationContextRunner cancelling() {
        return open().withConfiguration(
                        AutoConfigurations.of(DataSourceAutoConfiguration.class, JdbcTemplateAutoConfiguration.class))
                .withPropertyValues(
                        "spring.datasource.url=jdbc:h2:mem:statements", "virtual-thread.jdbc.cancel-statements=true");
    }

    private static WebApplicationContextRunner shown() {
        return cancelling().withPropertyValues("virtual-thread.endpoint.sql=true");
    }

    /** A call whose statement runs when this returns. */
    private static CompletableFuture<String> query(EndpointApplication it) throws Exception {
        JdbcTemplate jdbc = it.bean(JdbcTemplate.class);
        jdbc.execute("create alias if not exists hold for \"%s.hold\"".formatted(Functions.class.getName()));
        CompletableFuture<String> called =
                it.shop.price(() -> "" + jdbc.queryForObject(SQL, Integer.class, "bind value"));
        called.whenComplete((value, failure) -> running.countDown()); // it has failed
        EndpointApplication.await(running);
        assertThat(called).isNotDone();
        return called;
    }

    @Test
    void theStatementIsShownOnOneLineAndWithoutBindValues() {
        run(shown(), it -> {
            CompletableFuture<String> called = query(it);
            it.shop.price(() -> "waits");

            List<Map<String, Object>> calls = it.read("/price-db").get("$.calls");
            VirtualThreadsEndpoint jmx = it.bean(VirtualThreadsEndpoint.class);

            assertThat(calls.get(0)).containsEntry("statement", "select hold(?) from (values 1) where 'Smith' <> ''");
            assertThat(calls.get(1)).doesNotContainKey("statement");
            assertThat(jmx.limit("price-db", "1", null).calls())
                    .extracting(CallDescriptor::statement)
                    .containsExactly("select hold(?) from (values 1) where 'Smith' <> ''");
            release.countDown();
            assertThat(called).succeedsWithin(Duration.ofMinutes(2)).isEqualTo("10");
        });
    }

    @Test
    void aCallOutsideOfTheDriverShowsNone() {
        run(shown(), it -> {
            it.hold();

            assertThat(it.read("/price-db").<Map<String, Object>>get("$.calls[0]"))
                    .doesNotContainKey("statement");
        });
    }

    @Test
    void noStatementIsShownUnlessTheApplicationSaysSo() {
        run(cancelling(), it -> {
            query(it);

            assertShowsNone(it);
        });
    }

    @Test
    void noStatementIsKnownIfNoneIsCancelled() {
        run(shown().withPropertyValues("virtual-thread.jdbc.cancel-statements=false"), it -> {
            query(it);

            assertShowsNone(it);
        });
    }

    private static void assertShowsNone(EndpointApplication it) throws Exception {
        Answer answer = it.read("/price-db");
        assertThat(answer.<Map<String, Object>>get("$.calls[0]"))
                .containsEntry("state", "running")
                .doesNotContainKey("statement");
        assertThat(answer.body()).doesNotContain("Smith").doesNotContain("bind value");
    }

    @Test
    void aCancelledCallIsShownWithItsStatementUntilThatHasEnded() {
        run(shown(), it -> {
            CompletableFuture<String> called = query(it);
            Integer id = it.read("/price-db").get("$.calls[0].id");

            Answer ended = it.end("/price-db?id=" + id); // at once: nothing ends the statement before its latch opens

            assertThat(ended.status()).isEqualTo(200);
            assertThat(ended.<Integer>get("$.cancelled")).isEqualTo(1);
            assertThat(called).isCancelled();
            Answer answer = it.read("/price-db");
            assertThat(answer.<Map<String, Object>>get("$.calls[0]"))
                    .containsEntry("id", id)
                    .containsEntry("state", "running")
                    .containsEntry("abandoned", true)
                    .containsEntry("statement", "select hold(?) from (values 1) where 'Smith' <> ''");
            assertThat(answer.<Integer>get("$.limit.abandoned")).isEqualTo(1);
            assertThat(answer.<Integer>get("$.limit.inUse")).isEqualTo(1);
            assertThat(it.end("/price-db?id=" + id).message())
                    .isEqualTo(
                            "Call %d of Shop.price has already ended; its body is still running and cannot be cancelled"
                                            .formatted(id)
                                    + " again");

            release.countDown();
            await().atMost(Duration.ofMinutes(2)).until(() -> it.limit().available() == 1);
            assertThat(it.read("/price-db").<List<?>>get("$.calls")).isEmpty();
        });
    }

    /** Nobody could tell its outcome, so it has half a minute. A second DELETE interrupts it at once. */
    @Test
    void aSecondCancelEndsACommitThatHangs() {
        run(cancelling(), it -> {
            FakeDriver driver = new FakeDriver();
            Held commit = driver.hold("commit");
            DataSource source = new CancellableDataSource(driver::dataSource);
            CompletableFuture<String> called = it.shop.price(() -> {
                source.getConnection().commit();
                return "committed";
            });
            commit.awaitBegin();
            Integer id = it.read("/price-db").get("$.calls[0].id");

            assertThat(it.end("/price-db?id=" + id).status()).isEqualTo(200);
            assertThat(called).isCancelled();
            assertThat(it.limit().available()).isZero();
            assertThat(it.end("/price-db?id=" + id).status()).isEqualTo(200);

            await().atMost(Duration.ofSeconds(20)).until(() -> it.limit().available() == 1);
        });
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "99, 99", "100, 100", "101, 97", "5000000, 97"})
    void aLongStatementIsCut(int length, int kept) {
        String sql = "x".repeat(length);

        assertThat(Descriptors.beginning(sql)).isEqualTo("x".repeat(kept) + (kept < length ? "..." : ""));
        assertThat(Descriptors.beginning(" \n" + sql + "\t ")).isEqualTo(Descriptors.beginning(sql));
    }

    @Test
    void aStatementIsNotCutWithinACharacter() {
        assertThat(Descriptors.beginning("x" + "\uD83D\uDE00".repeat(60)))
                .isEqualTo("x" + "\uD83D\uDE00".repeat(48) + "...");
        assertThat(Descriptors.beginning("\uD83D\uDE00".repeat(60))).isEqualTo("\uD83D\uDE00".repeat(48) + "...");
    }
}
