package io.github.virtualthread.autoconfigure;

import static io.github.virtualthread.autoconfigure.Contexts.change;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.config.EngineBeans;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.PermitsFrom;
import io.github.virtualthread.limit.PermitsSource;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.pool.PoolPermits;
import io.github.virtualthread.pool.PoolSizes;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;

/** Limits that take their permits from a pool. No test opens a connection. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class PermitsFromTests {

    private final HikariDataSource pool = pool(20);
    private final ApplicationContextRunner plain = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class));
    private final ApplicationContextRunner jdbc =
            plain.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class));
    private final ApplicationContextRunner runner = jdbc.withBean("dataSource", DataSource.class, () -> pool)
            .withPropertyValues("virtual-thread.limits.db.permits-from=dataSource");

    @Test
    void aLimitHasAsManyPermitsAsThePoolHasConnections(CapturedOutput output) {
        runner.run(context -> {
            assertThat(db(context).permits()).isEqualTo(20);
            assertThat(db(context).available()).isEqualTo(20);
            assertThat(db(context).permitsFrom()).isEqualTo(new PermitsFrom("dataSource", 0));
        });
        assertThat(output)
                .contains("limits db (20 permits from dataSource, unbounded queue, unbounded wait)")
                .doesNotContain("changed by");
    }

    @Test
    void theHeadroomIsLeftToOthers(CapturedOutput output) {
        runner.withPropertyValues("virtual-thread.limits.db.headroom=2")
                .run(context -> assertThat(db(context).permits()).isEqualTo(18));
        assertThat(output).contains("db (18 permits from dataSource less 2, ");
    }

    @Test
    void aPoolThatNobodyHasUsedHasItsDefaultSize() {
        HikariDataSource unused = new HikariDataSource();
        unused.setJdbcUrl("jdbc:none");
        jdbc.withBean("dataSource", DataSource.class, () -> unused)
                .withPropertyValues("virtual-thread.limits.db.permits-from=dataSource")
                .run(context -> assertThat(db(context).permits())
                        .isEqualTo(unused.getMaximumPoolSize())
                        .isGreaterThan(1));
    }

    @Test
    void aPoolBehindProxiesIsFound() {
        DataSource proxy = (DataSource) new ProxyFactory(new LazyConnectionDataSourceProxy(pool)).getProxy();
        jdbc.withBean("dataSource", DataSource.class, () -> proxy)
                .withPropertyValues("virtual-thread.limits.db.permits-from=dataSource")
                .run(context -> assertThat(db(context).permits()).isEqualTo(20));
    }

    @Test
    void anotherPoolNeedsNeitherJdbcNorHikari() {
        plain.withClassLoader(new FilteredClassLoader("org.springframework.jdbc", "com.zaxxer.hikari"))
                .withBean("clients", PermitsSource.class, () -> () -> 7)
                .withPropertyValues(
                        "virtual-thread.limits.partner.permits-from=clients",
                        "virtual-thread.limits.partner.headroom=1")
                .run(context ->
                        assertThat(limits(context).get("partner").permits()).isEqualTo(6));
    }

    @Test
    void beforeThePoolIsReadTheLimitHasOnePermit() {
        AtomicInteger early = new AtomicInteger();
        runner.withBean("early", Early.class, early)
                .run(context -> assertThat(early).hasValue(1));
    }

    @Test
    void aResizedPoolResizesItsLimit(CapturedOutput output) {
        runner.withPropertyValues("virtual-thread.limits.db.headroom=2").run(context -> {
            pool.setMaximumPoolSize(30);

            assertThat(pools(context).read()).isEmpty();

            assertThat(db(context).permits()).isEqualTo(28);
        });
        assertThat(output)
                .containsOnlyOnce("Limit 'db' changed by POOL: 18 permits from dataSource less 2, unbounded queue,"
                        + " unbounded wait -> 28 permits from dataSource less 2, unbounded queue, unbounded wait");
    }

    @Test
    void aLimitResizedByHandStaysSoWhileThePoolIsTheSame() {
        runner.run(context -> {
            db(context).resize(5);
            pools(context).read();
            assertThat(db(context).permits()).isEqualTo(5);

            pool.setMaximumPoolSize(30);
            pools(context).read();
            assertThat(db(context).permits()).isEqualTo(30);
        });
    }

    @Test
    void aPoolThatHasNothingLeftChangesNothingAndIsToldOnce(CapturedOutput output) {
        runner.withPropertyValues("virtual-thread.limits.db.headroom=2").run(context -> {
            pool.setMaximumPoolSize(2);
            pools(context).read();
            pools(context).read();

            assertThat(db(context).permits()).isEqualTo(18);
        });
        assertThat(output)
                .containsOnlyOnce("Limit 'db' leaves a headroom of 2 for others, but the pool of bean 'dataSource' has"
                        + " only 2 connections. Set virtual-thread.limits.db.headroom to at most 1, or make the pool larger."
                        + " The limit is unchanged: db (18 permits from dataSource less 2, ");
    }

    @Test
    void aSourceThatFailsLaterChangesNothingAndIsToldOnce(CapturedOutput output) {
        AtomicReference<RuntimeException> failure = new AtomicReference<>();
        plain.withBean("clients", PermitsSource.class, () -> () -> {
                    if (failure.get() != null) {
                        throw failure.get();
                    }
                    return 7;
                })
                .withPropertyValues("virtual-thread.limits.partner.permits-from=clients")
                .run(context -> {
                    failure.set(new IllegalStateException("no answer"));
                    pools(context).read();
                    pools(context).read();

                    assertThat(limits(context).get("partner").permits()).isEqualTo(7);
                });
        assertThat(output)
                .containsOnlyOnce("bean 'clients', which failed: java.lang.IllegalStateException: no answer.")
                .containsPattern("(?m)^java.lang.IllegalStateException: no answer$");
    }

    @Test
    void whatReadsAPoolMayFailLaterWhichIsToldOnceAndLeavesTheOtherLimits(CapturedOutput output) {
        AtomicReference<RuntimeException> failure = new AtomicReference<>();
        AtomicInteger clients = new AtomicInteger(7);
        plain.withBean("dataSource", DataSource.class, () -> pool)
                .withBean(PoolSizes.class, () -> dataSource -> {
                    if (failure.get() != null) {
                        throw failure.get();
                    }
                    return OptionalInt.of(5);
                })
                .withBean("clients", PermitsSource.class, () -> clients::get)
                .withPropertyValues(
                        "virtual-thread.limits.db.permits-from=dataSource",
                        "virtual-thread.limits.partner.permits-from=clients")
                .run(context -> {
                    failure.set(new IllegalStateException("no answer"));
                    clients.set(9);
                    pools(context).read();
                    pools(context).read();

                    assertThat(db(context).permits()).isEqualTo(5);
                    assertThat(limits(context).get("partner").permits()).isEqualTo(9);
                });
        assertThat(output)
                .containsOnlyOnce("bean 'dataSource', which failed: java.lang.IllegalStateException: no answer.");
    }

    @Test
    void limitsThatExceedTheirPoolAreWarnedOfOnce(CapturedOutput output) {
        runner.withPropertyValues(
                        "virtual-thread.limits.report.permits-from=dataSource",
                        "virtual-thread.limits.report.headroom=12",
                        "virtual-thread.limits.partner.permits=100")
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output)
                .containsOnlyOnce(
                        "Limits db (20) and report (8) together allow 28 concurrent calls, but the pool of bean"
                                + " 'dataSource' has 20 connections: up to 8 calls will wait in the pool");
    }

    @Test
    void limitsThatShareTheirPoolAreNotWarnedOf(CapturedOutput output) {
        runner.withPropertyValues(
                        "virtual-thread.limits.db.headroom=8",
                        "virtual-thread.limits.report.permits-from=dataSource",
                        "virtual-thread.limits.report.headroom=12")
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output).doesNotContain("concurrent calls, but the pool");
    }

    @Test
    void aLimitWithinThatOfAPoolKeepsItsNumberAndDoesNotExceedThePool(CapturedOutput output) {
        pool.setMaximumPoolSize(2);
        runner.withPropertyValues("virtual-thread.limits.report.permits=30", "virtual-thread.limits.report.within=db")
                .run(context -> {
                    assertThat(db(context).permits()).isEqualTo(2);
                    assertThat(limits(context).get("report").permits()).isEqualTo(30);
                    assertThat(context.getBean(EngineBeans.class)
                                    .pools()
                                    .resolve(LimitSettings.of("report", 30).withWithin("db")))
                            .isEqualTo(LimitSettings.of("report", 30).withWithin("db"));
                });
        assertThat(output)
                .contains("report (30 permits, within db, unbounded queue, unbounded wait)")
                .doesNotContain("has 30 permits, but lies within 'db'");
    }

    @Test
    void aChangedPropertyThatGivesAPoolToALimitWithinAnotherChangesNothing(CapturedOutput output) {
        runner.withPropertyValues("virtual-thread.limits.report.permits=8", "virtual-thread.limits.report.within=db")
                .run(context -> {
                    change(
                            context,
                            "virtual-thread.limits.report.permits=",
                            "virtual-thread.limits.report.permits-from=dataSource");

                    assertThat(limits(context).get("report").permits()).isEqualTo(8);
                });
        assertThat(output).contains("but the pool belongs to 'db'");
    }

    @Test
    void aChangedPropertyMovesALimitToAPoolAndBack(CapturedOutput output) {
        runner.withPropertyValues("virtual-thread.limits.db.permits-from=", "virtual-thread.limits.db.permits=3")
                .run(context -> {
                    change(
                            context,
                            "virtual-thread.limits.db.permits=",
                            "virtual-thread.limits.db.permits-from=dataSource");
                    assertThat(db(context).permits()).isEqualTo(20);

                    change(context, "virtual-thread.limits.db.permits=4", "virtual-thread.limits.db.permits-from=");
                    pool.setMaximumPoolSize(30);
                    pools(context).read();
                    assertThat(db(context).permits()).isEqualTo(4);
                });
        assertThat(output)
                .contains(
                        "changed by ENVIRONMENT: 3 permits, unbounded queue, unbounded wait -> 20 permits from dataSource")
                .contains(
                        "changed by ENVIRONMENT: 20 permits from dataSource, unbounded queue, unbounded wait -> 4 permits,")
                .doesNotContain("changed by POOL");
    }

    @Test
    void anUnrelatedChangeLeavesALimitOfAPoolAsItIs() {
        runner.run(context -> {
            db(context).resize(5);

            change(context, "virtual-thread.limits.db.queue-capacity=8");

            assertThat(db(context).permits()).isEqualTo(5);
            assertThat(db(context).queueCapacity()).isEqualTo(8);
        });
    }

    @Test
    void aChangedPropertyThatNamesNoPoolChangesNothing(CapturedOutput output) {
        runner.run(context -> {
            change(
                    context,
                    "virtual-thread.limits.db.permits-from=dataSorce",
                    "virtual-thread.limits.db.queue-capacity=8");

            assertThat(db(context).permits()).isEqualTo(20);
            assertThat(db(context).queueCapacity()).isEqualTo(LimitSettings.UNBOUNDED);
        });
        assertThat(output).contains("bean 'dataSorce', but there is no such bean");
    }

    private static HikariDataSource pool(int size) {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl("jdbc:none");
        pool.setMaximumPoolSize(size);
        return pool;
    }

    private static TaskLimit db(AssertableApplicationContext context) {
        return limits(context).get("db");
    }

    private static TaskLimits limits(AssertableApplicationContext context) {
        return context.getBean(TaskLimits.class);
    }

    private static PoolPermits pools(AssertableApplicationContext context) {
        return context.getBean(EngineBeans.class).pools();
    }

    static class Early {

        Early(AtomicInteger seen, TaskLimits limits, VirtualThreads virtualThreads) {
            seen.set(limits.get("db").permits());
        }
    }
}
