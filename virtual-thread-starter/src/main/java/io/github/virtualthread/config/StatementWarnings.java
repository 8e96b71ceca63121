package io.github.virtualthread.config;

import io.github.virtualthread.aop.Findings.AdvisedMethod;
import io.github.virtualthread.jdbc.HikariStatements;
import io.github.virtualthread.limit.PermitsFrom;
import io.github.virtualthread.limit.PermitsSource;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.pool.PoolPermits;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanFactory;

/** Warns, once for each limit, that a timeout or a deadline closes connections while the database goes on. */
record StatementWarnings(TaskLimits limits, ConfigurableListableBeanFactory factory) {

    private static final Logger logger = LoggerFactory.getLogger(TaskLimits.class);

    private static final int MOST_NAMES = 5;

    /**
     * Looks for methods that are interrupted under limits whose permits are connections.
     *
     * @param deadlines whether a call may have a deadline that its method does not set
     */
    void log(List<AdvisedMethod> methods, boolean deadlines) {
        Map<TaskLimit, List<String>> interrupted = new LinkedHashMap<>();
        for (AdvisedMethod method : methods) {
            TaskLimit limit = PoolPermits.drawing(method.limit() == null ? null : limits.get(method.limit()));
            if (limit != null
                    && !method.limited()
                    && (deadlines || method.timeout() != null || method.deadline() != null)) {
                interrupted.computeIfAbsent(limit, first -> new ArrayList<>()).add(method.name());
            }
        }
        interrupted.forEach(this::warn);
    }

    private void warn(TaskLimit limit, List<String> names) {
        PermitsFrom from = limit.permitsFrom();
        if (from != null
                && factory.getBean(from.bean()) instanceof DataSource pool
                && !(pool instanceof PermitsSource)
                && !HikariStatements.isCovered(pool)) {
            logger.warn(
                    "Calls under limit '{}' ({}) are interrupted when their timeout or deadline passes: that closes their"
                            + " connection, and the database goes on with the query. {}",
                    limit.name(),
                    shown(names),
                    remedy(from.bean()));
        }
    }

    private static String shown(List<String> names) {
        int left = names.size() - MOST_NAMES;
        if (left <= 1) {
            return String.join(", ", names);
        }
        return "%s and %d more".formatted(String.join(", ", names.subList(0, MOST_NAMES)), left);
    }

    private String remedy(String pool) {
        if (factory instanceof AbstractBeanFactory known
                && known.getBeanPostProcessors().stream().anyMatch(HikariStatements.class::isInstance)) {
            return "Put a CancellableDataSource below the pool of bean '%s', because HikariStatements could not reach it"
                    .formatted(pool);
        }
        if (factory.containsBean(BeanNames.SETTINGS)) {
            return "Set virtual-thread.jdbc.cancel-statements=true";
        }
        return "Declare a static @Bean method that returns a HikariStatements";
    }
}
