package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.Internal;
import io.github.virtualthread.autoconfigure.properties.PropertiesCheck;
import io.github.virtualthread.autoconfigure.properties.SettingsFactory;
import io.github.virtualthread.autoconfigure.properties.VirtualThreadProperties;
import io.github.virtualthread.config.BeanNames;
import io.github.virtualthread.config.EngineSettings;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.PermitsFrom;
import io.github.virtualthread.pool.PoolSizes;
import java.util.OptionalInt;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;

/**
 * Auto-configuration for the test slices of Spring Boot, which the test kit adds it to by its files {@code
 * META-INF/spring/*Test.imports}. A slice has a part of the application only, mostly without its pools and without other replicas, and starts nevertheless.
 */
@Internal
@AutoConfiguration(before = VirtualThreadAutoConfiguration.class)
public class VirtualThreadSliceAutoConfiguration {

    /** Permits of a limit whose pool the slice does not have: as many as HikariCP has connections if none are configured. */
    private static final int PERMITS = 10;

    /** Created by Spring. */
    public VirtualThreadSliceAutoConfiguration() {}

    /** Lazy, because a test may exclude the auto-configuration that asks for it. */
    @Bean(BeanNames.SETTINGS)
    @Lazy
    @ConditionalOnMissingBean(name = BeanNames.SETTINGS)
    EngineSettings virtualThreadSettings(
            VirtualThreadProperties properties, PropertiesCheck virtualThreadPropertiesCheck, BeanFactory beans) {
        return SettingsFactory.ofThisJvm(
                properties, virtualThreadPropertiesCheck.sources(), limit -> ofSlice(limit, beans));
    }

    /** Without headroom: the pool may be smaller than that of the application, and nobody else uses it. */
    private static LimitSettings ofSlice(LimitSettings limit, BeanFactory beans) {
        PermitsFrom from = limit.permitsFrom();
        if (from == null) {
            return limit;
        }
        if (beans.containsBean(from.bean())) {
            return limit.withPermitsFrom(new PermitsFrom(from.bean(), 0));
        }
        return limit.withPermitsFrom(null).withPermits(PERMITS);
    }

    /** Slices replace pools by embedded databases, which open a connection whenever one is asked for. */
    @Bean
    @ConditionalOnClass(name = "org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider")
    @ConditionalOnMissingBean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    PoolSizes virtualThreadPoolSizes(ObjectProvider<DataSourcePoolMetadataProvider> providers) {
        PoolSizes known = new DataSourcePoolSizes(providers);
        return dataSource -> OptionalInt.of(known.sizeOf(dataSource).orElse(PERMITS));
    }
}
