package io.github.virtualthread.database;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.Limited;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.data.jdbc.JdbcRepositoriesAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.JdbcTemplateAutoConfiguration;
import org.springframework.boot.autoconfigure.transaction.TransactionAutoConfiguration;
import org.springframework.boot.autoconfigure.transaction.TransactionManagerCustomizationAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.annotation.Id;
import org.springframework.data.jdbc.repository.config.EnableJdbcRepositories;
import org.springframework.data.jdbc.repository.query.Query;
import org.springframework.data.relational.core.mapping.Table;
import org.springframework.data.repository.CrudRepository;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/** {@code @Limited} on interfaces that Spring Data implements, with one permit. */
@Timeout(300)
@Tag("slow")
class LimitedRepositoryTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class,
                    DataSourceAutoConfiguration.class,
                    JdbcTemplateAutoConfiguration.class,
                    DataSourceTransactionManagerAutoConfiguration.class,
                    TransactionManagerCustomizationAutoConfiguration.class,
                    TransactionAutoConfiguration.class,
                    JdbcRepositoriesAutoConfiguration.class))
            .withUserConfiguration(Repositories.class)
            .withPropertyValues("virtual-thread.limits.db.permits=1")
            .withBean(Transactions.class);

    static Stream<Arguments> callsOfLimitedMethods() {
        return Stream.of(
                products("query in words, declared by the limited interface", it -> it.nameOf(1)),
                products("query by name, declared by the limited interface", it -> it.countByName("lamp")),
                products("inherited, and declared anew by the limited interface", it -> it.findById(1L)),
                products("the same, called as a method of CrudRepository", LimitedRepositoryTests::findInherited),
                products("inherited with the same signature, and declared anew", it -> it.findAll()),
                names("query in words, annotated itself", it -> it.nameOf(1)),
                names("inherited, and declared anew with the annotation", it -> it.findById(1L)),
                names("the same, called as a method of CrudRepository", LimitedRepositoryTests::findInherited));
    }

    static Stream<Arguments> callsOfOtherMethods() {
        return Stream.of(
                products("inherited by the limited interface", CrudRepository::count),
                names("query by name, beside annotated methods", it -> it.countByName("lamp")),
                names("inherited, beside annotated methods", CrudRepository::count));
    }

    @ParameterizedTest
    @MethodSource("callsOfLimitedMethods")
    void aCallWaitsForItsPermitAndHoldsNoConnectionMeanwhile(Function<AssertableApplicationContext, Object> call) {
        run(context -> {
            TaskLimit db = limit(context);
            HikariDataSource dataSource = context.getBean(HikariDataSource.class);
            try (Holder holder = new Holder(context)) {
                FutureTask<Object> waiting = start(() -> call.apply(context));

                await().atMost(Duration.ofMinutes(2)).until(() -> db.waiting() == 1);
                assertThat(dataSource.getHikariPoolMXBean().getActiveConnections())
                        .isZero();
                assertThat(waiting).isNotDone();
                holder.release();

                assertThat(waiting).succeedsWithin(120, SECONDS).isNotNull();
            }
            assertThat(db.available()).isOne();
        });
    }

    @ParameterizedTest
    @MethodSource("callsOfOtherMethods")
    void aCallOfAMethodThatIsNotAnnotatedNeedsNoPermit(Function<AssertableApplicationContext, Object> call) {
        run(context -> {
            try (Holder holder = new Holder(context)) {
                assertThat(start(() -> call.apply(context)))
                        .succeedsWithin(120, SECONDS)
                        .isEqualTo(1L);
            }
        });
    }

    @Test
    void theTransactionOfARepositoryBeginsAndEndsUnderThePermit() {
        run(context -> {
            context.getBean(Products.class).nameOf(1);

            assertThat(context.getBean(Transactions.class).events).containsExactly("begin 0", "commit 0");
            assertThat(limit(context).available()).isOne();
        });
    }

    @Test
    void theTransactionOfTheCallerHoldsItsConnectionWhileTheCallWaits() {
        run(context -> {
            TaskLimit db = limit(context);
            HikariDataSource dataSource = context.getBean(HikariDataSource.class);
            TransactionTemplate transaction = context.getBean(TransactionTemplate.class);
            try (Holder holder = new Holder(context)) {
                FutureTask<String> waiting = start(() -> transaction.execute(
                        status -> context.getBean(Products.class).nameOf(1)));

                await().atMost(Duration.ofMinutes(2)).until(() -> db.waiting() == 1);
                assertThat(dataSource.getHikariPoolMXBean().getActiveConnections())
                        .isOne();
                holder.release();

                assertThat(waiting).succeedsWithin(120, SECONDS).isEqualTo("lamp");
            }
        });
    }

    @Test
    void aLimitedServiceAndItsRepositoriesNeedOnePermit() {
        run(context -> {
            Products products = context.getBean(Products.class);
            Names names = context.getBean(Names.class);

            String name = context.getBean(VirtualThreads.class)
                    .call(
                            "db",
                            () -> products.nameOf(1)
                                    + names.findById(1L).orElseThrow().name());

            assertThat(name).isEqualTo("lamplamp");
            assertThat(limit(context).available()).isOne();
            assertThat(limit(context).completed()).isOne();
        });
    }

    private void run(TestBody body) {
        runner.run(context -> {
            JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
            jdbc.execute("create table product (id bigint primary key, name varchar(20))");
            jdbc.execute("insert into product values (1, 'lamp')");
            body.accept(context);
        });
    }

    private static <T> FutureTask<T> start(Callable<T> call) {
        FutureTask<T> task = new FutureTask<>(call);
        Thread.startVirtualThread(task);
        return task;
    }

    private static TaskLimit limit(AssertableApplicationContext context) {
        return context.getBean(TaskLimits.class).get("db");
    }

    private static Optional<Product> findInherited(CrudRepository<Product, Long> repository) {
        return repository.findById(1L);
    }

    private static Arguments products(String what, Function<Products, Object> call) {
        return call(what, context -> call.apply(context.getBean(Products.class)));
    }

    private static Arguments names(String what, Function<Names, Object> call) {
        return call(what, context -> call.apply(context.getBean(Names.class)));
    }

    private static Arguments call(String what, Function<AssertableApplicationContext, Object> call) {
        return Arguments.of(Named.of(what, call));
    }

    private interface TestBody {
        void accept(AssertableApplicationContext context) throws Exception;
    }

    /** Another thread that has the only permit until it is released. */
    private static final class Holder implements AutoCloseable {

        private final CountDownLatch released = new CountDownLatch(1);
        private final FutureTask<Void> task;

        Holder(AssertableApplicationContext context) throws InterruptedException {
            VirtualThreads threads = context.getBean(VirtualThreads.class);
            CountDownLatch holding = new CountDownLatch(1);
            task = start(() -> threads.call("db", () -> {
                holding.countDown();
                released.await();
                return null;
            }));
            assertThat(holding.await(120, SECONDS)).isTrue();
        }

        void release() {
            released.countDown();
        }

        @Override
        public void close() throws Exception {
            release();
            task.get(120, SECONDS);
        }
    }

    static class Transactions implements TransactionExecutionListener {

        final BlockingQueue<String> events = new LinkedBlockingQueue<>();
        private final TaskLimits limits;

        Transactions(TaskLimits limits) {
            this.limits = limits;
        }

        @Override
        public void afterBegin(TransactionExecution transaction, Throwable failure) {
            record("begin");
        }

        @Override
        public void afterCommit(TransactionExecution transaction, Throwable failure) {
            record("commit");
        }

        private void record(String what) {
            events.add(what + " " + limits.get("db").available());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableJdbcRepositories(considerNestedRepositories = true)
    static class Repositories {}

    /** Named as a table, since more than one module of Spring Data is on the class path of tests. */
    @Table
    record Product(@Id Long id, String name) {}

    @Limited("db")
    @Transactional(readOnly = true)
    interface Products extends CrudRepository<Product, Long> {

        @Query("select name from product where id = :id")
        String nameOf(long id);

        long countByName(String name);

        @Override
        Optional<Product> findById(Long id);

        @Override
        List<Product> findAll();
    }

    interface Names extends CrudRepository<Product, Long> {

        @Limited("db")
        @Query("select name from product where id = :id")
        String nameOf(long id);

        long countByName(String name);

        @Limited("db")
        @Override
        Optional<Product> findById(Long id);
    }
}
