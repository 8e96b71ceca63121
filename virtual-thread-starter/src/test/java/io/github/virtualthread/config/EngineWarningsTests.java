package io.github.virtualthread.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.argumentSet;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.cluster.ClusterStore;
import io.github.virtualthread.cluster.jdbc.JdbcClusterStore;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.PermitsFrom;
import io.github.virtualthread.pool.PoolSizes;
import io.github.virtualthread.test.MemoryStore;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;

/** Calls that may hold all connections of the engine's pool, without Spring Boot. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class EngineWarningsTests {

    private static final String WARNING = "calls may hold all of them";
    private static final String OWN = "or create the JdbcClusterStore with a DataSource of its own";

    private final HikariDataSource pool = pool(10);
    private final HikariDataSource own = pool(2);
    private boolean sizesAreKnown = true;

    @Test
    void asManyPermitsAsConnectionsAreTooMany(CapturedOutput output) {
        start(engine(pool), shared(10));

        assertThat(output)
                .containsOnlyOnce(
                        "The engine of cluster-permits needs one of the 10 connections of bean 'pool', but calls may hold all"
                                + " of them: limit 'partner' allows 10 calls, if its calls use connections of bean 'pool'. An exchange"
                                + " then waits for a call to end, and the lease may be over before. Set"
                                + " virtual-thread.limits.partner.permits: 9, " + OWN);
    }

    @ParameterizedTest
    @MethodSource("enough")
    void aConnectionThatIsLeftIsEnough(LimitSettings[] limits, CapturedOutput output) {
        start(engine(pool), limits);

        assertThat(output).doesNotContain(WARNING);
    }

    static Stream<Arguments> enough() {
        return Stream.of(
                enough("one permit less", shared(9)),
                enough(
                        "one permit less in this JVM",
                        LimitSettings.of("partner", 9).withClusterPermits(30)),
                enough("the limit around", LimitSettings.of("db", 5), shared(20).withWithin("db")),
                enough("a headroom of one", drawing("db", 1).withClusterPermits(20)),
                enough(
                        "fewer cluster-permits without headroom",
                        drawing("db", 0).withClusterPermits(9)));
    }

    private static Arguments enough(String name, LimitSettings... limits) {
        return argumentSet(name, (Object) limits);
    }

    @Test
    void allLimitsAreInOneWarning(CapturedOutput output) {
        start(engine(pool), shared(10), shared("tenant", 12));

        assertThat(output)
                .containsOnlyOnce(WARNING)
                .contains("limit 'partner' allows 10 calls", "; limit 'tenant' allows 12 calls")
                .contains(
                        "Set virtual-thread.limits.partner.permits: 9 and virtual-thread.limits.tenant.permits: 9, or");
    }

    @Test
    void aLimitWithoutHeadroomOfThatPoolIsNamedWithoutAnIf(CapturedOutput output) {
        start(engine(pool), shared(3), drawing("db", 0));

        assertThat(output)
                .containsOnlyOnce("hold all of them: limit 'db' allows 10 calls. An exchange")
                .contains("Set virtual-thread.limits.db.headroom: 1, " + OWN);
    }

    @Test
    void limitsThatTogetherLeaveNoneAreNamed(CapturedOutput output) {
        start(engine(pool), shared(3), drawing("db", 4), drawing("report", 6));

        assertThat(output)
                .containsOnlyOnce(WARNING)
                .contains("limit 'db' allows 6 calls; limit 'report' allows 4 calls. An")
                .contains(
                        "Set more virtual-thread.limits.db.headroom and more virtual-thread.limits.report.headroom, or");
    }

    @Test
    void withoutABeanThatKnowsSizesThatOfHikariCpIsKnown(CapturedOutput output) {
        sizesAreKnown = false;
        start(engine(pool), shared(10));
        assertThat(output).containsOnlyOnce("one of the 10 connections of bean 'pool'");

        start(engine(new HikariDataSource()), shared(10));
        assertThat(output).as("its pool is not that of the application").containsOnlyOnce(WARNING);
    }

    @Test
    void aPoolOfOneMustBeLarger(CapturedOutput output) {
        pool.setMaximumPoolSize(1);
        start(engine(pool), shared(1));

        assertThat(output).contains("may be over before. Make the pool larger, " + OWN);
    }

    @Test
    void aProxyBeforeThePoolIsThePool(CapturedOutput output) {
        start(
                context -> new JdbcClusterStore(new LazyConnectionDataSourceProxy(pool), "shop"),
                shared(3),
                drawing("db", 0));

        assertThat(output).containsOnlyOnce(WARNING).contains("limit 'db' allows 10 calls");
    }

    @Test
    void aPoolOfItsOwnMayBeSmall(CapturedOutput output) {
        start(besideOwn(own), shared(20), drawing("db", 0));

        assertThat(output).doesNotContain(WARNING);
    }

    @Test
    void unlessALimitTakesItsPermitsFromIt(CapturedOutput output) {
        start(besideOwn(own), shared(20), LimitSettings.of("db", 1).withPermitsFrom(new PermitsFrom("own", 0)));

        assertThat(output)
                .containsOnlyOnce(
                        "one of the 2 connections of bean 'own', but calls may hold all of them: limit 'db' allows"
                                + " 2 calls. An exchange");
    }

    @Test
    void aLimitOfAnotherPoolIsNotMeant(CapturedOutput output) {
        own.setMaximumPoolSize(30);
        start(
                besideOwn(pool),
                LimitSettings.of("db", 1)
                        .withPermitsFrom(new PermitsFrom("own", 0))
                        .withClusterPermits(20));

        assertThat(output).doesNotContain(WARNING);
    }

    @Test
    void anotherEngineNeedsNoConnection(CapturedOutput output) {
        start(context -> new MemoryStore(), shared(20));

        assertThat(output).doesNotContain(WARNING);
    }

    @Test
    void aPoolOfUnknownSizeIsLeftAlone(CapturedOutput output) {
        start(context -> new JdbcClusterStore(new LazyConnectionDataSourceProxy(), "shop"), shared(20));

        assertThat(output).doesNotContain(WARNING);
    }

    private static Function<AnnotationConfigApplicationContext, ClusterStore> engine(DataSource pool) {
        return context -> new JdbcClusterStore(pool, "shop");
    }

    /** In an application with two pools, of which {@code pool} is the primary one. */
    private Function<AnnotationConfigApplicationContext, ClusterStore> besideOwn(DataSource ofEngine) {
        return context -> {
            context.registerBean("own", DataSource.class, () -> own, own -> own.setPrimary(false));
            context.getBeanDefinition("pool").setPrimary(true);
            return new JdbcClusterStore(ofEngine, "shop");
        };
    }

    private static LimitSettings shared(int permits) {
        return shared("partner", permits);
    }

    private static LimitSettings shared(String name, int permits) {
        return LimitSettings.of(name, permits).withClusterPermits(permits);
    }

    private static LimitSettings drawing(String name, int headroom) {
        return LimitSettings.of(name, 1).withPermitsFrom(new PermitsFrom("pool", headroom));
    }

    private void start(Function<AnnotationConfigApplicationContext, ClusterStore> engine, LimitSettings... limits) {
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            context.register(Plain.class);
            context.registerBean("pool", DataSource.class, () -> pool);
            if (sizesAreKnown) {
                context.registerBean(
                        PoolSizes.class,
                        () -> source -> source instanceof HikariDataSource hikari
                                ? OptionalInt.of(hikari.getMaximumPoolSize())
                                : OptionalInt.empty());
            }
            ClusterStore made = engine.apply(context);
            context.registerBean(ClusterStore.class, () -> made);
            for (LimitSettings limit : limits) {
                context.registerBean(
                        limit.name(),
                        LimitSettings.class,
                        () -> limit.isShared() ? limit.withOnFailure(OnFailure.WAIT) : limit);
            }
            context.refresh();
        }
    }

    private static HikariDataSource pool(int size) {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl("jdbc:h2:mem:");
        pool.setMaximumPoolSize(size);
        return pool;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual
    static class Plain {}
}
