package io.github.virtualthread.config;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.beans.factory.annotation.Qualifier;

/**
 * Qualifier of the {@link javax.sql.DataSource} by which the engine {@code jdbc} lends permits to all replicas, in Spring Boot. Without
 * it the engine takes connections of the application's own pool, all of which the calls of a limit may hold.
 *
 * <p>Put it on the bean, best together with {@code @Bean(defaultCandidate = false)}, so that nobody else is given that bean. A pool of
 * two connections is enough. It does not choose the engine: {@code virtual-thread.cluster.engine} does. Without Spring Boot, give the
 * {@code DataSource} to the {@link io.github.virtualthread.cluster.jdbc.JdbcClusterStore}.
 */
@Target({ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Qualifier
public @interface VirtualThreadDataSource {}
