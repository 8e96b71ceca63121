package io.github.virtualthread.sample.lab.experiment;

import com.sun.management.OperatingSystemMXBean;
import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.config.EnableVirtual;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitSettings;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;

/** Callers of a small pool, in a JVM of its own, so that the processor time of the process is theirs. */
@EnableVirtual
class BurnServer {

    /** With whether there is a limit, the number of callers, and the milliseconds of a query and of the whole. Answered with figures. */
    static final String MEASURE = "measure";

    static final int CONNECTIONS = 10;

    public static void main(String[] args) {
        ApplicationContext context = new SpringApplicationBuilder(BurnServer.class)
                .web(WebApplicationType.NONE)
                .run();
        VirtualThreads threads = context.getBean(VirtualThreads.class);
        BurnQueries queries = context.getBean(BurnQueries.class);
        ChildAnswers.give(question -> {
            String[] words = question.split(" ");
            return new Round(queries, Boolean.parseBoolean(words[1]), Integer.parseInt(words[3]))
                    .measure(threads, Integer.parseInt(words[2]), Integer.parseInt(words[4]));
        });
    }

    @Bean
    HikariDataSource dataSource() {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl("jdbc:h2:mem:burn;DB_CLOSE_DELAY=-1");
        pool.setMaximumPoolSize(CONNECTIONS);
        pool.setMinimumIdle(CONNECTIONS);
        return pool;
    }

    @Bean
    BurnQueries burnQueries(HikariDataSource pool) {
        return new BurnQueries(pool);
    }

    /** As many as {@code permits-from} would take from the pool. */
    @Bean
    LimitSettings pool() {
        return LimitSettings.of("pool", CONNECTIONS);
    }

    /** Each caller asks again as soon as it has its answer. */
    private static final class Round {

        private final BurnQueries queries;
        private final boolean limited;
        private final int millis;
        private final AtomicInteger done = new AtomicInteger();
        private final AtomicInteger failed = new AtomicInteger();
        private volatile boolean ended;

        Round(BurnQueries queries, boolean limited, int millis) {
            this.queries = queries;
            this.limited = limited;
            this.millis = millis;
        }

        String measure(VirtualThreads threads, int callers, int measuredMillis) throws InterruptedException {
            var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
            for (int i = 0; i < callers; i++) {
                call();
            }
            Thread.sleep(500); // all wait
            long begin = System.nanoTime();
            long processor = system.getProcessCpuTime();
            int before = done.get();
            Thread.sleep(measuredMillis);
            int number = done.get() - before;
            double seconds = (System.nanoTime() - begin) / 1e9;
            double burnt = (system.getProcessCpuTime() - processor) / 1e9;
            ended = true;
            if (!threads.awaitIdle(Duration.ofSeconds(60))) {
                throw new IllegalStateException("Queries still run after 60 s");
            }
            return "rate=%s each=%s busy=%s failed=%s"
                    .formatted(
                            number / seconds, burnt * 1e6 / Math.max(1, number), 100 * burnt / seconds, failed.get());
        }

        private void call() {
            CompletableFuture<Void> call = limited ? queries.limited(millis) : queries.unlimited(millis);
            var unused = call.whenComplete((nothing, failure) -> {
                (failure == null ? done : failed).incrementAndGet();
                if (!ended) {
                    call();
                }
            });
        }
    }
}
