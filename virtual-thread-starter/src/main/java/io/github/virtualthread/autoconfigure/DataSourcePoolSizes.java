package io.github.virtualthread.autoconfigure;

import com.zaxxer.hikari.HikariConfigMXBean;
import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.pool.PoolSizes;
import java.util.OptionalInt;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.boot.jdbc.metadata.CompositeDataSourcePoolMetadataProvider;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadata;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.util.ClassUtils;

/** Sizes of the pools that Spring Boot knows. Spring Boot unwraps proxies and delegating data sources. */
record DataSourcePoolSizes(ObjectProvider<DataSourcePoolMetadataProvider> providers) implements PoolSizes {

    private static final boolean HIKARI =
            ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource", DataSourcePoolSizes.class.getClassLoader());

    @Override
    public OptionalInt sizeOf(DataSource dataSource) {
        Integer size = maximum(dataSource);
        if (size != null && size < 1 && HIKARI) {
            completeHikari(dataSource);
            size = maximum(dataSource);
        }
        return size == null || size < 1 ? OptionalInt.empty() : OptionalInt.of(size);
    }

    private @Nullable Integer maximum(DataSource dataSource) {
        DataSourcePoolMetadata pool = new CompositeDataSourcePoolMetadataProvider(
                        providers.orderedStream().toList())
                .getDataSourcePoolMetadata(dataSource);
        return pool == null ? null : pool.getMax();
    }

    /** An unused HikariCP pool without a configured size has no default size yet: it completes its configuration late. */
    private static void completeHikari(DataSource dataSource) {
        HikariDataSource hikari =
                DataSourceUnwrapper.unwrap(dataSource, HikariConfigMXBean.class, HikariDataSource.class);
        if (hikari != null) {
            hikari.validate();
        }
    }
}
