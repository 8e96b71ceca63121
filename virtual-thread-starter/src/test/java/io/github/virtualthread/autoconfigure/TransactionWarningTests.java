package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.PermitsSource;
import io.github.virtualthread.pool.TransactionWarnings;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

/** A caller that waits for a connection with one in its hand. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class TransactionWarningTests {

    private static final String WARNING = "is called inside a transaction and under limit 'db', whose permits are the"
            + " connections of 'dataSource': its caller holds a connection while it waits for a permit.";

    private final TransactionTemplate transaction = new TransactionTemplate(new Transactions());
    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(VirtualThreadAutoConfiguration.class, DataSourceAutoConfiguration.class))
            .withBean("dataSource", DataSource.class, TransactionWarningTests::pool)
            .withBean("clients", PermitsSource.class, () -> () -> 5)
            .withBean(Shop.class)
            .withBean(LimitSettings.class, () -> LimitSettings.of("report", 1).withWithin("db"))
            .withPropertyValues(
                    "virtual-thread.limits.db.permits-from=dataSource",
                    "virtual-thread.limits.partner.permits-from=clients",
                    "virtual-thread.limits.mail.permits=5");

    @Test
    void isWarnedOfOncePerMethod(CapturedOutput output) {
        runner.run(context -> transaction.executeWithoutResult(status -> {
            shop(context).price().join();
            shop(context).price().join();
            shop(context).stock();
            VirtualThreads virtualThreads = context.getBean(VirtualThreads.class);
            virtualThreads.submit("db", () -> "by hand").join();
        }));

        assertThat(output)
                .containsOnlyOnce("Shop.price " + WARNING)
                .containsOnlyOnce("Shop.stock " + WARNING)
                .containsOnlyOnce("TransactionWarningTests.lambda " + WARNING);
    }

    @Test
    void isWarnedOfUnderALimitWithinThatOfThePoolUnlessTheThreadHoldsAPermit(CapturedOutput output) {
        runner.run(context -> {
            VirtualThreads virtualThreads = context.getBean(VirtualThreads.class);
            virtualThreads.call(
                    "db", () -> transaction.execute(status -> shop(context).year()));
            assertThat(output).doesNotContain("inside a transaction");

            transaction.executeWithoutResult(status -> shop(context).month());
        });

        assertThat(output).containsOnlyOnce("Shop.month " + WARNING).doesNotContain("Shop.year");
    }

    @Test
    void twoFirstCallsAtTheSameTimeWarnOnce(CapturedOutput output) {
        runner.run(context -> {
            CountDownLatch both = new CountDownLatch(2);
            List<CompletableFuture<Void>> calls = Stream.of(1, 2)
                    .map(each -> CompletableFuture.runAsync(
                            () -> transaction.executeWithoutResult(status -> {
                                both.countDown();
                                try {
                                    both.await();
                                } catch (InterruptedException unexpected) {
                                    throw new IllegalStateException(unexpected);
                                }
                                shop(context).price().join();
                            }),
                            Executors.newVirtualThreadPerTaskExecutor()))
                    .toList();
            calls.forEach(CompletableFuture::join);
        });

        assertThat(output).containsOnlyOnce("Shop.price " + WARNING);
    }

    @Test
    void isNotWarnedOfWhereNoConnectionIsInvolved(CapturedOutput output) {
        runner.run(context -> {
            shop(context).price().join();
            transaction.executeWithoutResult(status -> {
                shop(context).partner().join();
                shop(context).mail().join();
                shop(context).unlimited().join();
            });
        });

        assertThat(output).doesNotContain("inside a transaction");
    }

    @Test
    void onlyCallsThatNeedAPermitOfAPoolAreHeard() {
        runner.run(context -> {
            TransactionWarnings warnings = new TransactionWarnings(context);
            TaskEngine engine = context.getBean(TaskEngine.class);

            assertThat(warnings.hears(engine.spec("Shop.price", "db"))).isTrue();
            assertThat(warnings.hears(engine.spec("Shop.year", "report"))).isTrue();
            assertThat(warnings.hears(engine.spec("Shop.mail", "mail"))).isFalse();
            assertThat(warnings.hears(engine.spec("Shop.unlimited", null))).isFalse();
        });
    }

    private static Shop shop(AssertableApplicationContext context) {
        return context.getBean(Shop.class);
    }

    private static DataSource pool() {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl("jdbc:none");
        return pool;
    }

    static class Shop {

        @VirtualThread("db")
        CompletableFuture<String> price() {
            return CompletableFuture.completedFuture("price");
        }

        @Limited("db")
        String stock() {
            return "stock";
        }

        @Limited("report")
        String year() {
            return "year";
        }

        @Limited("report")
        String month() {
            return "month";
        }

        @VirtualThread("partner")
        CompletableFuture<String> partner() {
            return CompletableFuture.completedFuture("partner");
        }

        @VirtualThread("mail")
        CompletableFuture<String> mail() {
            return CompletableFuture.completedFuture("mail");
        }

        @VirtualThread
        CompletableFuture<String> unlimited() {
            return CompletableFuture.completedFuture("unlimited");
        }
    }

    /** Transactions of nothing: that one is active is all that counts. */
    @SuppressWarnings("serial")
    private static final class Transactions extends AbstractPlatformTransactionManager
            implements PlatformTransactionManager {

        @Override
        protected Object doGetTransaction() {
            return this;
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {}

        @Override
        protected void doCommit(DefaultTransactionStatus status) {}

        @Override
        protected void doRollback(DefaultTransactionStatus status) {}
    }
}
