package io.github.virtualthread.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.util.DriverDataSource;
import com.zaxxer.hikari.util.PropertyElf;
import com.zaxxer.hikari.util.UtilityElf;
import java.sql.SQLException;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.PriorityOrdered;
import org.springframework.util.ClassUtils;

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

    /** Creates a post-processor for all data sources of its context. */
    public HikariStatements() {}

    @Override
    public int getOrder() {
        return LOWEST_PRECEDENCE;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (bean instanceof DataSource dataSource && !isCovered(dataSource) && !(HIKARI && Pool.cover(dataSource))) {
            logger.warn(
                    "Statements of bean '{}' are not cancelled: it is no pool of HikariCP that has not opened a connection. Create"
                            + " the pool by new HikariDataSource() and its setters, or put a CancellableDataSource below your"
                            + " pool.",
                    beanName);
        }
        return bean;
    }

    /**
     * Whether the statements of a data source are cancelled.
     *
     * @param dataSource a pool, or what stands before one
     * @return whether there is a {@link CancellableDataSource} below it
     */
    public static boolean isCovered(DataSource dataSource) {
        try {
            return dataSource.isWrapperFor(CancellableDataSource.class) || (HIKARI && Pool.isCovered(dataSource));
        } catch (SQLException | RuntimeException unknown) {
            return false;
        }
    }

    private static final class Pool {

        private Pool() {}

        static boolean isCovered(DataSource dataSource) throws SQLException {
            HikariDataSource pool = find(dataSource);
            return pool != null && pool.getDataSource() instanceof CancellableDataSource;
        }

        private static @Nullable HikariDataSource find(DataSource dataSource) throws SQLException {
            return dataSource.isWrapperFor(HikariDataSource.class) ? dataSource.unwrap(HikariDataSource.class) : null;
        }

        static boolean cover(DataSource dataSource) {
            try {
                HikariDataSource pool = find(dataSource);
                if (pool == null || pool.getHikariPoolMXBean() != null || pool.getDataSourceJNDI() != null) {
                    return false;
                }
                pool.setDataSource(new CancellableDataSource(target(pool)));
                return true;
            } catch (SQLException | RuntimeException unknown) {
                return false;
            }
        }

        /** Makes what the pool would have made itself. */
        private static Supplier<DataSource> target(HikariDataSource pool) {
            DataSource given = pool.getDataSource();
            String type = pool.getDataSourceClassName();
            if (given != null) {
                return () -> given;
            } else if (type != null) {
                return () -> {
                    DataSource made = UtilityElf.createInstance(type, DataSource.class);
                    PropertyElf.setTargetFromProperties(made, pool.getDataSourceProperties());
                    return made;
                };
            }
            return () -> new DriverDataSource(
                    pool.getJdbcUrl(),
                    pool.getDriverClassName(),
                    pool.getDataSourceProperties(),
                    pool.getUsername(),
                    pool.getPassword());
        }
    }
}
