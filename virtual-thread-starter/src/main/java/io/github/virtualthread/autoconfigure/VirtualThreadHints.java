package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.ParameterMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.Statement;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * Hints for a native image that do not depend on beans: the annotations, and the classes whose presence is checked by name.
 * Hints that belong to a bean, such as those for the records of the endpoint, are registered with that bean.
 */
final class VirtualThreadHints implements RuntimeHintsRegistrar {

    /** Without a hint, a class on the classpath seems to be absent. */
    private static final List<String> ASKED_FOR_BY_NAME = List.of(
            "com.zaxxer.hikari.HikariDataSource",
            "io.micrometer.context.ContextSnapshotFactory",
            "org.aspectj.lang.ProceedingJoinPoint",
            "org.springframework.data.redis.core.StringRedisTemplate",
            "org.springframework.jdbc.core.JdbcTemplate",
            "org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource",
            "org.springframework.security.core.context.SecurityContextHolder",
            "org.springframework.transaction.support.TransactionSynchronizationManager");

    /** What stands before the objects of a JDBC driver, if the start asks for it. */
    private static final List<Class<?>> GUARDED = List.of(
            Connection.class,
            Statement.class,
            PreparedStatement.class,
            CallableStatement.class,
            ResultSet.class,
            ResultSetMetaData.class,
            ParameterMetaData.class);

    /** Their methods cancel a query and tell the state of a transaction. */
    private static final List<String> POSTGRES =
            List.of("org.postgresql.PGConnection", "org.postgresql.core.BaseConnection");

    /** What the engines read that lend permits to replicas. */
    private static final List<String> RESOURCES = List.of(
            "io/github/virtualthread/cluster/redis/claim.lua", "io/github/virtualthread/cluster/jdbc/schema-*.sql");

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        ReflectionHints reflection = hints.reflection();
        for (Class<?> annotation : List.of(VirtualThread.class, Limited.class)) {
            reflection.registerType(annotation, MemberCategory.INVOKE_DECLARED_METHODS);
        }
        RESOURCES.forEach(hints.resources()::registerPattern);
        GUARDED.forEach(hints.proxies()::registerJdkProxy);
        POSTGRES.forEach(name -> reflection.registerTypeIfPresent(
                classLoader, name, type -> type.withMembers(MemberCategory.INVOKE_PUBLIC_METHODS)));
        ASKED_FOR_BY_NAME.forEach(name -> reflection.registerTypeIfPresent(classLoader, name, type -> {}));
    }
}
