package io.github.virtualthread.docs.startupchecks;

import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.cluster.ClusterStore;
import io.github.virtualthread.config.EnableVirtual;
import io.github.virtualthread.config.VirtualThreadDataSource;
import io.github.virtualthread.limit.KeyWeight;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.PermitsSource;
import io.github.virtualthread.test.MemoryStore;
import jakarta.annotation.PostConstruct;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadPoolExecutor.CallerRunsPolicy;
import javax.sql.DataSource;
import kotlin.coroutines.Continuation;
import org.h2.jdbcx.JdbcDataSource;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.task.TaskDecorator;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jms.annotation.JmsListener;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

/** What the wrong applications of the start-up checks consist of: on the pages each is a class of com.acme. */
final class Acme {

    private Acme() {}

    static class Nothing {}

    static class Mailer {

        @VirtualThread("mial")
        CompletableFuture<Void> send() {
            return CompletableFuture.completedFuture(null);
        }
    }

    static class Prices {

        @VirtualThread("price db")
        void find() {}
    }

    static class Reports {

        @VirtualThread("${report.limit}")
        void print() {}
    }

    static class Contradiction {

        @VirtualThread(value = "mail", limit = "report")
        CompletableFuture<Void> send() {
            return CompletableFuture.completedFuture(null);
        }
    }

    static class Stock {

        @Limited
        int count() {
            return 40;
        }
    }

    static class Deliveries {

        @Limited("db")
        CompletableFuture<Integer> next() {
            return CompletableFuture.completedFuture(40);
        }
    }

    static class Both {

        @Limited("mail")
        @VirtualThread("mail")
        void send() {}
    }

    static class Slow {

        @VirtualThread(timeout = "soon")
        void send() {}
    }

    static class Quick {

        @VirtualThread(timeout = "2")
        void send() {}
    }

    static class Late {

        @Limited(value = "db", deadline = "-2s")
        void count() {}
    }

    static class Soon {

        @VirtualThread(deadline = "2")
        void send() {}
    }

    static class Partner {

        @VirtualThread(limit = "partner", timeout = "5s", deadline = "2s")
        void quote() {}

        @VirtualThread(deadline = "2s")
        void offer() {}
    }

    static class Invoices {

        @VirtualThread(limit = "mail", key = "#tenant.")
        void send(String tenant) {}
    }

    static class Refunds {

        @VirtualThread(limit = "mail", key = "#tenat")
        void send(String tenant, long amount) {}
    }

    static class Parcels {

        @VirtualThread(limit = "mail", key = "#p1")
        void send(String tenant) {}
    }

    /** Compiled without names of parameters. */
    static class Letters {

        @VirtualThread(limit = "mail", key = "#tenant")
        public void send(String tenant) {}
    }

    static class Vouchers {

        @VirtualThread(limit = "mail", key = "tenant")
        void send(String tenant) {}
    }

    static class Coupons {

        @VirtualThread(limit = "mail", key = "tenantOf(#order)")
        void send(Object order) {}
    }

    static class Returns {

        @VirtualThread(limit = "mail", key = "@tenants.current()")
        void send(String tenant) {}
    }

    static class Notes {

        @VirtualThread(limit = "mail", key = "#order.custmer")
        void send(Order order) {}
    }

    record Order(long id, String customer) {}

    static class Tenants {

        @VirtualThread(key = "#tenant")
        void invite(String tenant) {}
    }

    static class Counter {

        @Limited("bd")
        int count() {
            return 40;
        }
    }

    static class Newsroom {

        void sendAll() {
            send();
        }

        @VirtualThread
        void send() {}
    }

    static class Cache {

        @PostConstruct
        @VirtualThread
        void load() {}
    }

    static class Catalog {

        @VirtualThread
        String title(long id) {
            return "Tea cup";
        }
    }

    @VirtualThread
    static class Inventory {

        public int count() {
            return 40;
        }
    }

    static class Suspending {

        @VirtualThread
        public Object title(long id, Continuation caller) {
            return "Tea cup";
        }
    }

    static class Newsletter {

        @Async
        @VirtualThread
        void send() {}
    }

    static class PrivateMethod {

        @VirtualThread
        private void send() {}
    }

    static class StaticMethod {

        @VirtualThread
        static void send() {}
    }

    static class FinalMethod {

        @VirtualThread
        final void send() {}
    }

    static final class FinalClass {

        @VirtualThread
        void send() {}
    }

    record RecordClass() {

        @VirtualThread
        void send() {}
    }

    static sealed class SealedClass {

        @VirtualThread
        void send() {}
    }

    static final class OnlyChild extends SealedClass {}

    static class OfInterface implements Runnable {

        @VirtualThread
        public Future<String> report() {
            return CompletableFuture.completedFuture("done");
        }

        @Override
        public void run() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class BeanMethod {

        @Bean
        @VirtualThread
        CompletableFuture<String> token() {
            return CompletableFuture.completedFuture("t");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TooEarly {

        @Bean
        Audit audit() {
            return new Audit();
        }

        @Bean
        static AuditPostProcessor auditPostProcessor(Audit audit) {
            return new AuditPostProcessor();
        }
    }

    static class Audit {

        @VirtualThread
        void record() {}
    }

    static class AuditPostProcessor implements BeanPostProcessor, PriorityOrdered {

        @Override
        public int getOrder() {
            return 0;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual
    @Import(SecondEnableVirtual.class)
    static class TwoEnableVirtual {}

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual(order = 7)
    static class SecondEnableVirtual {}

    @Configuration(proxyBeanMethods = false)
    @Import({Shop.class, Mailer.class})
    static class NotWoven {}

    /** As AspectJ leaves it: the body is in a static method. */
    static class Shop {

        @Transactional
        @VirtualThread
        void order() {
            order_aroundBody0(this);
        }

        private static void order_aroundBody0(Shop shop) {}
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Shop.class, Printer.class})
    static class AnnotatedAbove {}

    interface Prints {

        @VirtualThread
        void print();
    }

    static class Printer implements Prints {

        @Override
        public void print() {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual(mode = AdviceMode.ASPECTJ, annotation = Background.class)
    static class UnknownAnnotation {}

    @interface Background {}

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    @Import(Shop.class)
    static class WovenAndProxied {}

    static class Orders {

        @VirtualThread("db")
        void store() {}

        @VirtualThread("partner")
        void tellPartner() {}

        @VirtualThread
        void count() {}

        @VirtualThread
        @JmsListener
        void onOrder() {}
    }

    static class ProductPage {

        @VirtualThread("db")
        void price() {}

        @VirtualThread("db")
        void stock() {}
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(DataSourceAutoConfiguration.class)
    static class Pool {

        @Bean
        DataSource dataSource() {
            HikariDataSource pool = new HikariDataSource();
            pool.setJdbcUrl("jdbc:none");
            pool.setMaximumPoolSize(10);
            return pool;
        }

        @Bean
        DataSource reporting() {
            return new DriverManagerDataSource();
        }

        @Bean
        PermitsSource broken() {
            return () -> {
                throw new IllegalStateException("no answer");
            };
        }

        @Bean
        PermitsSource empty() {
            return () -> 0;
        }

        @Bean
        Nothing cache() {
            return new Nothing();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(DataSourceAutoConfiguration.class)
    static class SmallPool {

        @Bean
        DataSource dataSource() {
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl("jdbc:h2:mem:warnings");
            config.setMaximumPoolSize(2);
            return new HikariDataSource(config);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class NotCancelled {

        @Bean
        DataSource dataSource() {
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl("jdbc:h2:mem:");
            config.setMaximumPoolSize(1);
            return new HikariDataSource(config);
        }

        @Bean
        DataSource reporting() {
            return new DriverManagerDataSource();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoBeans {

        @Bean
        LimitSettings db() {
            return LimitSettings.of("db", 20);
        }

        @Bean
        LimitSettings database() {
            return LimitSettings.of("db", 10);
        }
    }

    static class Cleanup {

        @VirtualThread
        @Scheduled(fixedDelay = 60_000)
        void removeOldCarts() {}
    }

    static class Report {

        @VirtualThread
        @Scheduled(fixedRate = 60_000)
        CompletableFuture<String> build() {
            return CompletableFuture.completedFuture("");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Executors {

        @Bean
        TenantDecorator mail() {
            return new TenantDecorator();
        }

        @Bean({"pool", "workers"})
        ExecutorService pool() {
            return java.util.concurrent.Executors.newCachedThreadPool();
        }

        @Bean
        TaskScheduler scheduler() {
            return new SimpleAsyncTaskScheduler();
        }
    }

    /** As Spring Boot's, and methods with {@code @Async} that nobody runs. */
    @Configuration(proxyBeanMethods = false)
    @Import(Sender.class)
    static class Asynchronous {

        @Bean
        ThreadPoolTaskExecutor applicationTaskExecutor() {
            ThreadPoolTaskExecutor pool = new ThreadPoolTaskExecutor();
            pool.setRejectedExecutionHandler(new CallerRunsPolicy());
            pool.setTaskDecorator(new TenantDecorator());
            return pool;
        }
    }

    static class TenantDecorator implements TaskDecorator {

        @Override
        public Runnable decorate(Runnable task) {
            return task;
        }
    }

    static class Sender {

        @Async
        void send() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoConnections {

        @Bean
        RedisConnectionFactory cache() {
            return mock(RedisConnectionFactory.class);
        }

        @Bean
        RedisConnectionFactory sessions() {
            return mock(RedisConnectionFactory.class);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoDataSources {

        @Bean
        DataSource orders() {
            return mock(DataSource.class);
        }

        @Bean
        DataSource stock() {
            return mock(DataSource.class);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoOwnDataSources {

        @Bean
        @VirtualThreadDataSource
        DataSource orders() {
            return mock(DataSource.class);
        }

        @Bean
        @VirtualThreadDataSource
        DataSource stock() {
            return mock(DataSource.class);
        }
    }

    static class Plans implements KeyWeight {

        @Override
        public double of(String limit, String key) {
            return 1;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoWeights {

        @Bean
        KeyWeight plans() {
            return new Plans();
        }

        @Bean
        KeyWeight sizes() {
            return new Plans();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoEngines {

        @Bean
        ClusterStore here() {
            return new MemoryStore();
        }

        @Bean
        ClusterStore there() {
            return new MemoryStore();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class H2 {

        @Bean
        DataSource dataSource() {
            JdbcDataSource h2 = new JdbcDataSource();
            h2.setUrl("jdbc:h2:mem:");
            return h2;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OtherDatabase {

        @Bean
        DataSource dataSource() throws SQLException {
            DatabaseMetaData metaData = mock(DatabaseMetaData.class);
            when(metaData.getDatabaseProductName()).thenReturn("Oracle");
            Connection connection = mock(Connection.class);
            when(connection.getMetaData()).thenReturn(metaData);
            DataSource oracle = mock(DataSource.class);
            when(oracle.getConnection()).thenReturn(connection);
            return oracle;
        }
    }

    /** Its user may not read the table. */
    @Configuration(proxyBeanMethods = false)
    static class Denied {

        @Bean
        DataSource dataSource() throws SQLException {
            DatabaseMetaData metaData = mock(DatabaseMetaData.class);
            when(metaData.getDatabaseProductName()).thenReturn("PostgreSQL");
            Connection connection = mock(Connection.class);
            when(connection.getMetaData()).thenReturn(metaData);
            when(connection.createStatement())
                    .thenThrow(new SQLException("permission denied for table virtual_thread_limit", "42501"));
            DataSource postgres = mock(DataSource.class);
            when(postgres.getConnection()).thenReturn(connection);
            return postgres;
        }
    }
}
