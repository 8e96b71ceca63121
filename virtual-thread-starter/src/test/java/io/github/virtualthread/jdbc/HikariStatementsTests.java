package io.github.virtualthread.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.mock;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.target.AbstractLazyCreationTargetSource;
import org.springframework.aop.target.SingletonTargetSource;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.OverridingClassLoader;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/** Which data sources are covered and which are warned of. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class HikariStatementsTests {

    private static final String NOT_CANCELLED = "Statements of bean 'shop' are not cancelled: ";

    private final String url = "jdbc:h2:mem:" + UUID.randomUUID();
    private final List<HikariDataSource> pools = new ArrayList<>();

    @AfterEach
    void closePools() {
        pools.forEach(HikariDataSource::close);
    }

    @Test
    void aPoolStaysAsItIsAndIsCovered(CapturedOutput output) throws SQLException {
        HikariDataSource pool = pool();
        pool.setDriverClassName("org.h2.Driver");
        pool.addDataSourceProperty("IFEXISTS", "false");

        assertThat(processed(pool)).isSameAs(pool);

        assertThat(HikariStatements.isCovered(pool)).isTrue();
        assertThat(pool.getJdbcUrl()).isEqualTo(url);
        assertThat(user(pool)).isEqualTo("SA");
        assertThat(HikariStatements.isCovered(pool)).isTrue();
        assertThat(output).doesNotContain("WARN");
    }

    @Test
    void aPoolWithADataSourceOfItsOwnIsCovered() throws SQLException {
        HikariDataSource pool = pool();
        pool.setJdbcUrl(null);
        pool.setDataSource(driver());

        processed(pool);

        assertThat(user(pool)).isEqualTo("SA");
        assertThat(HikariStatements.isCovered(pool)).isTrue();
        assertThat(pool.unwrap(JdbcDataSource.class)).isNotNull();
    }

    @Test
    void aPoolWithTheClassOfADataSourceIsCovered(CapturedOutput output) throws SQLException {
        HikariDataSource pool = pool();
        pool.setJdbcUrl(null);
        pool.setUsername(null);
        pool.setDataSourceClassName(JdbcDataSource.class.getName());
        pool.addDataSourceProperty("url", url);
        pool.addDataSourceProperty("user", "sa");

        processed(pool);

        assertThat(user(pool)).isEqualTo("SA");
        assertThat(HikariStatements.isCovered(pool)).isTrue();
        assertThat(output).doesNotContain("WARN");
    }

    @Test
    void aUserThatIsChangedAtRunTimeIsThatOfNewConnections() throws SQLException {
        HikariDataSource pool = pool();
        processed(pool);
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("create user later password 'secret'");
            pool.getHikariConfigMXBean().setUsername("later");
            pool.getHikariConfigMXBean().setPassword("secret");
            pool.evictConnection(connection);
        }

        assertThat(user(pool)).isEqualTo("LATER");
    }

    @Test
    void whatIsSetLaterCounts() throws SQLException {
        HikariDataSource pool = pool();
        pool.setJdbcUrl("jdbc:none");
        processed(pool);

        pool.setJdbcUrl(url);

        assertThat(user(pool)).isEqualTo("SA");
    }

    /** Spring Boot has an analysis of the first. */
    @Test
    void whatHikariRefusesItRefusesInTheSameWords(CapturedOutput output) {
        HikariDataSource both = pool();
        both.setDriverClassName("org.h2.Driver");
        both.setDataSourceClassName(JdbcDataSource.class.getName());
        HikariDataSource nothing = pool();
        nothing.setJdbcUrl(" ");

        processed(both);
        processed(nothing);

        assertThatThrownBy(both::getConnection)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("cannot use driverClassName and dataSourceClassName together.");
        assertThatThrownBy(nothing::getConnection)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("dataSource or dataSourceClassName or jdbcUrl is required.");
        assertThat(output).doesNotContain("not cancelled");
    }

    @Tag("slow")
    @Test
    void aDriverThatIsMissingFailsTheFirstConnection() {
        HikariDataSource pool = pool();
        pool.setJdbcUrl("jdbc:none");
        processed(pool);

        assertThatThrownBy(pool::getConnection)
                .hasStackTraceContaining("Failed to get driver instance for jdbcUrl=jdbc:none");
    }

    @Test
    void aPoolThatHasBegunIsWarnedOf(CapturedOutput output) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(1);
        HikariDataSource pool = kept(new HikariDataSource(config));

        processed(pool);

        assertThat(HikariStatements.isCovered(pool)).isFalse();
        assertThat(output)
                .containsOnlyOnce(NOT_CANCELLED
                        + "its pool had opened connections before it was a bean. Create the pool by new HikariDataSource()"
                        + " and its setters, as a bean of its own.");
    }

    @Test
    void aPoolOnJndiIsWarnedOf(CapturedOutput output) {
        HikariDataSource pool = pool();
        pool.setJdbcUrl(null);
        pool.setDataSourceJNDI("java:comp/env/jdbc/shop");

        processed(pool);

        assertThat(output).containsOnlyOnce(NOT_CANCELLED + "its pool takes its connections from JNDI. ");
    }

    static Stream<Named<DataSource>> others() {
        return Stream.of(
                Named.of("without a pool", new SimpleDriverDataSource(new org.h2.Driver(), "jdbc:h2:mem:")),
                Named.of("before one without a pool", new DelegatingDataSource(new JdbcDataSource())),
                Named.of("another pool", new OtherPool(new JdbcDataSource())),
                Named.of(
                        "embedded",
                        new EmbeddedDatabaseBuilder()
                                .setType(EmbeddedDatabaseType.H2)
                                .generateUniqueName(true)
                                .build()),
                Named.of("which knows nothing yet", new DelegatingDataSource()),
                Named.of("of the application", mock(DataSource.class)));
    }

    @ParameterizedTest
    @MethodSource("others")
    void anotherDataSourceIsWarnedOf(DataSource other, CapturedOutput output) {
        processed(other);

        assertThat(HikariStatements.isCovered(other)).isFalse();
        assertThat(output)
                .containsOnlyOnce(NOT_CANCELLED + "no pool of HikariCP was found behind it. Use HikariCP, or put a");
    }

    @Test
    void whatAlreadyCancelsIsNotWarnedOf(CapturedOutput output) throws SQLException {
        HikariConfig config = new HikariConfig();
        config.setDataSource(new CancellableDataSource(this::driver));
        config.setMaximumPoolSize(1);

        assertSilentlyCovered(new CancellableDataSource(this::driver));
        assertSilentlyCovered(kept(new HikariDataSource(config)));
        assertSilentlyCovered(new OtherPool(new CancellableDataSource(this::driver)));
        assertThat(output).doesNotContain("not cancelled");
    }

    @Test
    void whatStandsBeforeACoveredPoolIsNotWarnedOf(CapturedOutput output) {
        HikariDataSource pool = pool();
        processed(pool);

        assertSilentlyCovered(new LazyConnectionDataSourceProxy(pool));
        assertSilentlyCovered(new TransactionAwareDataSourceProxy(pool));
        assertSilentlyCovered(new TransactionAwareDataSourceProxy(new LazyConnectionDataSourceProxy(routing(pool))));
        assertSilentlyCovered(new DelegatingDataSource(pool));
        assertSilentlyCovered((DataSource) new ProxyFactory(pool).getProxy());
        assertSilentlyCovered(
                (DataSource) new ProxyFactory(DataSource.class, new SingletonTargetSource(pool)).getProxy());
        assertThat(output).doesNotContain("not cancelled");
    }

    /** It may have no target now, and its targets are beans. */
    @Test
    void aProxyForAnotherBeanIsNotAsked(CapturedOutput output) {
        AbstractLazyCreationTargetSource target = new AbstractLazyCreationTargetSource() {
            @Override
            protected Object createObject() {
                throw new IllegalStateException("no request");
            }
        };

        processed((DataSource) new ProxyFactory(DataSource.class, target).getProxy());

        assertThat(output).doesNotContain("not cancelled");
    }

    @Test
    void poolsThatAreNoBeansAreCoveredBehindOneThatIs(CapturedOutput output) {
        HikariDataSource delegate = pool();
        HikariDataSource first = pool();
        HikariDataSource second = pool();

        processed(new DelegatingDataSource(delegate));
        processed(routing(first, second));

        assertThat(List.of(delegate, first, second)).allMatch(HikariStatements::isCovered);
        assertThat(output).doesNotContain("not cancelled");
    }

    @Test
    void aRoutingDataSourceIsCoveredIfAllItsTargetsAre(CapturedOutput output) {
        AbstractRoutingDataSource routing = routing(pool(), new JdbcDataSource());

        processed(routing);

        assertThat(HikariStatements.isCovered(routing)).isFalse();
        assertThat(output).containsOnlyOnce(NOT_CANCELLED);
    }

    @Test
    void itNeedsNeitherHikariNorSpringJdbc(CapturedOutput output) throws Exception {
        BeanPostProcessor alone = (BeanPostProcessor) new Alone()
                .loadClass(HikariStatements.class.getName())
                .getConstructor()
                .newInstance();

        alone.postProcessAfterInitialization(driver(), "shop");
        alone.postProcessAfterInitialization("no data source", "text");

        assertThat(output)
                .containsOnlyOnce(NOT_CANCELLED + "no pool of HikariCP was found behind it. Use HikariCP, or put a");
    }

    private static void assertSilentlyCovered(DataSource dataSource) {
        assertThat(HikariStatements.isCovered(dataSource)).isTrue();
        processed(dataSource);
    }

    private static Object processed(DataSource bean) {
        return new HikariStatements().postProcessAfterInitialization(bean, "shop");
    }

    private HikariDataSource pool() {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(url);
        pool.setUsername("sa");
        pool.setMaximumPoolSize(1);
        return kept(pool);
    }

    private HikariDataSource kept(HikariDataSource pool) {
        pools.add(pool);
        return pool;
    }

    private JdbcDataSource driver() {
        JdbcDataSource driver = new JdbcDataSource();
        driver.setUrl(url);
        driver.setUser("sa");
        return driver;
    }

    /** Without a key now, and so without a target to ask. */
    private static AbstractRoutingDataSource routing(DataSource... targets) {
        AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {
            @Override
            protected Object determineCurrentLookupKey() {
                return "nobody";
            }
        };
        routing.setLenientFallback(false);
        routing.setTargetDataSources(Map.of("first", targets[0]));
        routing.setDefaultTargetDataSource(targets[targets.length - 1]);
        routing.afterPropertiesSet();
        return routing;
    }

    private static String user(DataSource pool) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet answer = statement.executeQuery("select current_user")) {
            answer.next();
            return answer.getString(1);
        }
    }

    /** As Tomcat's: it shows what is below it, and unwraps nothing. */
    static final class OtherPool extends AbstractDataSource {

        private final DataSource below;

        OtherPool(DataSource below) {
            this.below = below;
        }

        public DataSource getDataSource() {
            return below;
        }

        @Override
        public boolean isWrapperFor(Class<?> type) {
            return false;
        }

        @Override
        public Connection getConnection() throws SQLException {
            return below.getConnection();
        }

        @Override
        public Connection getConnection(String user, String password) throws SQLException {
            return below.getConnection(user, password);
        }
    }

    /** Sees the class anew, without what is optional. */
    private static final class Alone extends OverridingClassLoader {

        Alone() {
            super(HikariStatementsTests.class.getClassLoader());
        }

        @Override
        protected boolean isEligibleForOverriding(String name) {
            return name.startsWith(HikariStatements.class.getPackageName() + ".");
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.startsWith("com.zaxxer.") || name.startsWith("org.springframework.jdbc.")) {
                throw new ClassNotFoundException(name);
            }
            return super.loadClass(name, resolve);
        }
    }
}
