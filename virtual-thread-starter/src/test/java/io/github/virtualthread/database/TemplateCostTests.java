package io.github.virtualthread.database;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.jdbc.CancellableDataSource;
import io.github.virtualthread.jdbc.JdbcEngine;
import io.github.virtualthread.limit.LimitSettings;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** What a query of a {@code JdbcTemplate} allocates more below a pool whose statements are cancelled. */
@Timeout(600)
@Tag("slow")
@EnabledForJreRange(min = JRE.JAVA_25) // as the page says: the compiler of Java 21 removes fewer objects
@Isolated
class TemplateCostTests {

    private static final int ROUNDS = 24;
    private static final int WARM_UP = 10;

    private static final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private enum Server {
        H2(() -> "jdbc:h2:mem:cost;DB_CLOSE_DELAY=-1", 30, 800, 1_000),
        POSTGRES(TestPostgres::newDatabase, 3, 800, 1_000);

        private final Supplier<String> url;

        /** Thousands of queries in a round. */
        private final int thousands;

        /** Most bytes for a query, outside of calls and within one. */
        private final int outside;

        private final int within;

        Server(Supplier<String> url, int thousands, int outside, int within) {
            this.url = url;
            this.thousands = thousands;
            this.outside = outside;
            this.within = within;
        }
    }

    private record Cost(double nanos, double bytes) {}

    @ParameterizedTest
    @EnumSource
    void aQueryAllocatesWhatThePageSays(Server server) throws Exception {
        DataSource source = new DriverManagerDataSource(server.url.get());
        try (JdbcEngine test = new JdbcEngine(LimitSettings.of("db", 1));
                HikariDataSource off = pool(source);
                HikariDataSource on = pool(new CancellableDataSource(() -> source))) {
            for (boolean within : new boolean[] {false, true}) {
                Cost[] without = new Cost[ROUNDS];
                Cost[] with = new Cost[ROUNDS];
                for (int i = 0; i < ROUNDS; i++) {
                    boolean first = i % 2 == 0;
                    if (first) {
                        without[i] = cost(server, test.engine, within, off);
                    }
                    with[i] = cost(server, test.engine, within, on);
                    if (!first) {
                        without[i] = cost(server, test.engine, within, off);
                    }
                }
                double bytes = median(with, without, Cost::bytes);
                System.out.printf(
                        Locale.ROOT,
                        "COST %s %s a call: %.0f bytes and %.0f ns more than %.0f bytes and %.0f ns%n",
                        server,
                        within ? "within" : "outside of",
                        bytes,
                        median(with, without, Cost::nanos),
                        median(without, null, Cost::bytes),
                        median(without, null, Cost::nanos));
                assertThat(bytes).isLessThan(within ? server.within : server.outside);
            }
        }
    }

    private static HikariDataSource pool(DataSource source) {
        HikariDataSource pool = new HikariDataSource();
        pool.setMaximumPoolSize(1);
        pool.setDataSource(source);
        return pool;
    }

    private static double median(Cost[] of, Cost @Nullable [] minus, ToDoubleFunction<Cost> what) {
        double[] all = IntStream.range(WARM_UP, of.length)
                .mapToDouble(i -> what.applyAsDouble(of[i]) - (minus == null ? 0 : what.applyAsDouble(minus[i])))
                .sorted()
                .toArray();
        return Arrays.stream(all).skip(all.length / 2).findFirst().orElseThrow();
    }

    private static Cost cost(Server server, TaskEngine engine, boolean within, DataSource source) throws Exception {
        JdbcTemplate jdbc = new JdbcTemplate(source);
        int queries = server.thousands * 1000;
        Callable<Cost> round = () -> {
            long bytes = threads.getTotalThreadAllocatedBytes();
            long begin = System.nanoTime();
            int sum = 0;
            for (int i = 0; i < queries; i++) {
                sum += jdbc.queryForObject("select ? + ? + ?", Integer.class, i, 2, 3);
            }
            long end = System.nanoTime();
            assertThat(sum).isNotZero();
            return new Cost(
                    (end - begin) / (double) queries,
                    (threads.getTotalThreadAllocatedBytes() - bytes) / (double) queries);
        };
        if (within) {
            return (Cost)
                    engine.submit(engine.spec("Shop.price", "db"), round::call).get(5, TimeUnit.MINUTES);
        }
        FutureTask<Cost> task = new FutureTask<>(round);
        Thread.ofVirtual().start(task);
        return task.get(5, TimeUnit.MINUTES);
    }
}
