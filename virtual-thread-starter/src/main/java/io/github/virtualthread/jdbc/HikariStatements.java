package io.github.virtualthread.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.util.DriverDataSource;
import com.zaxxer.hikari.util.PropertyElf;
import com.zaxxer.hikari.util.UtilityElf;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.Advised;
import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.PriorityOrdered;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Puts a {@link CancellableDataSource} below each pool of HikariCP, before the pool opens its first connection. The bean stays the
 * {@code HikariDataSource} that it is. Warns of data sources whose statements are not cancelled.
 *
 * <p>Spring Boot makes it with {@code virtual-thread.jdbc.cancel-statements=true}. Without Spring Boot, declare it by a static
 * {@code @Bean} method.
 */
public final class HikariStatements implements BeanPostProcessor, PriorityOrdered {

    private static final Logger logger = LoggerFactory.getLogger(CancellableDataSource.class);

    private static final boolean HIKARI =
            ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource", HikariStatements.class.getClassLoader());
    private static final boolean SPRING_JDBC = ClassUtils.isPresent(
            "org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource",
            HikariStatements.class.getClassLoader());

    private static final String OTHER = "no pool of HikariCP was found behind it. Use HikariCP, or put a"
            + " CancellableDataSource below your pool. Without a pool, wrap the data source in a"
            + " CancellableDataSource.";

    /** Creates a post-processor for all data sources of its context. */
    public HikariStatements() {}

    @Override
    public int getOrder() {
        return LOWEST_PRECEDENCE;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (bean instanceof DataSource dataSource && !standsForAnotherBean(bean)) {
            String reason = cover(dataSource);
            if (reason != null) {
                logger.warn("Statements of bean '{}' are not cancelled: {}", beanName, reason);
            }
        }
        return bean;
    }

    /** As a scoped proxy does. It may have no target now; its targets are beans. */
    private static boolean standsForAnotherBean(Object bean) {
        return bean instanceof Advised proxy && !proxy.getTargetSource().isStatic();
    }

    /** Returns why the statements are not cancelled and what to do; null if they are, or if the pool cannot begin at all. */
    private static @Nullable String cover(DataSource dataSource) {
        try {
            if (isCovered(dataSource)) {
                return null;
            }
            List<DataSource> behind = behind(dataSource);
            if (behind.isEmpty()) {
                return HIKARI ? Pool.cover(dataSource) : OTHER;
            }
            String reason = null;
            for (int i = 0; reason == null && i < behind.size(); i++) {
                reason = cover(behind.get(i));
            }
            return reason;
        } catch (SQLException | RuntimeException unknown) {
            return OTHER;
        }
    }

    /**
     * Whether the statements of a data source are cancelled.
     *
     * @param dataSource a pool, or what stands before one or several
     * @return whether there is a {@link CancellableDataSource} below it, or below each of those behind it
     */
    public static boolean isCovered(DataSource dataSource) {
        try {
            List<DataSource> behind = behind(dataSource);
            if (!behind.isEmpty()) {
                return behind.stream().allMatch(HikariStatements::isCovered);
            }
            return dataSource.isWrapperFor(CancellableDataSource.class)
                    || (HIKARI && Pool.isCovered(dataSource))
                    || showsOne(dataSource);
        } catch (SQLException | RuntimeException unknown) {
            return false;
        }
    }

    /** The data sources that one of Spring's leads to; empty if it is another one. */
    private static List<DataSource> behind(DataSource dataSource) {
        if (SPRING_JDBC && dataSource instanceof DelegatingDataSource delegating) {
            return Stream.ofNullable(delegating.getTargetDataSource()).toList();
        }
        if (SPRING_JDBC && dataSource instanceof AbstractRoutingDataSource routing) {
            List<DataSource> all =
                    new ArrayList<>(routing.getResolvedDataSources().values());
            Stream.ofNullable(routing.getResolvedDefaultDataSource()).forEach(all::add);
            return all;
        }
        return List.of();
    }

    /** Other pools, such as Tomcat's, unwrap nothing, but have a getter of what is below them. */
    private static boolean showsOne(DataSource pool) {
        BeanWrapper bean = PropertyAccessorFactory.forBeanPropertyAccess(pool);
        return bean.isReadableProperty("dataSource")
                && bean.getPropertyValue("dataSource") instanceof CancellableDataSource;
    }

    private static final class Pool {

        private static final String BEGUN =
                "its pool had opened connections before it was a bean. Create the pool by new"
                        + " HikariDataSource() and its setters, as a bean of its own.";
        private static final String JNDI =
                "its pool takes its connections from JNDI. Give the pool a CancellableDataSource by setDataSource instead.";

        static boolean isCovered(DataSource dataSource) throws SQLException {
            HikariDataSource pool = find(dataSource);
            DataSource below = pool == null ? null : pool.getDataSource();
            return below != null && HikariStatements.isCovered(below);
        }

        private static @Nullable HikariDataSource find(DataSource dataSource) throws SQLException {
            return dataSource.isWrapperFor(HikariDataSource.class) ? dataSource.unwrap(HikariDataSource.class) : null;
        }

        static @Nullable String cover(DataSource dataSource) throws SQLException {
            HikariDataSource pool = find(dataSource);
            if (pool == null) {
                return OTHER;
            }
            if (pool.getHikariPoolMXBean() != null) {
                return BEGUN;
            }
            DataSource given = pool.getDataSource();
            if (given != null) {
                pool.setDataSource(new CancellableDataSource(() -> given));
            } else if (StringUtils.hasText(pool.getDataSourceClassName())) {
                coverClass(pool, pool.getDataSourceClassName().strip());
            } else if (StringUtils.hasText(pool.getJdbcUrl())) {
                pool.setDataSource(new CancellableDataSource(() -> ofDriver(pool)));
            } else if (StringUtils.hasText(pool.getDataSourceJNDI())) {
                return JNDI;
            }
            return null; // also where HikariCP says what is missing
        }

        /** Beside a data source, HikariCP would report that it ignores the class. */
        private static void coverClass(HikariDataSource pool, String type) {
            // otherwise HikariCP fails, because it allows one only
            if (!StringUtils.hasText(pool.getDriverClassName())) {
                pool.setDataSourceClassName(null);
                pool.setDataSource(new CancellableDataSource(() -> ofClass(pool, type)));
            }
        }

        private static DataSource ofClass(HikariDataSource pool, String type) {
            DataSource made = UtilityElf.createInstance(type, DataSource.class);
            PropertyElf.setTargetFromProperties(made, pool.getDataSourceProperties());
            return made;
        }

        /** What the pool would have made itself, from what is set by then. */
        private static DataSource ofDriver(HikariDataSource pool) {
            return new DriverDataSource(
                    pool.getJdbcUrl(),
                    pool.getDriverClassName(),
                    pool.getDataSourceProperties(),
                    pool.getUsername(),
                    pool.getPassword());
        }
    }
}
