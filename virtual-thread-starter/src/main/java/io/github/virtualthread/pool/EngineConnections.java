package io.github.virtualthread.pool;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.Internal;
import io.github.virtualthread.limit.PermitsFrom;
import io.github.virtualthread.limit.PermitsSource;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.PropertyKeys;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * Warns, at the start, if calls may hold all connections of the pool by which a database lends permits to all replicas: an exchange
 * then waits for a call to end.
 *
 * @param dataSource what the engine takes its connections from
 * @param beans has the pools, and what knows their sizes
 */
@Internal
public record EngineConnections(DataSource dataSource, ConfigurableListableBeanFactory beans) {

    private static final Logger logger = LoggerFactory.getLogger(TaskLimits.class);

    /** Of an unused pool of HikariCP without a configured size. */
    private static final int DEFAULT_SIZE = 10;

    private static final boolean HIKARI =
            ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource", EngineConnections.class.getClassLoader());

    /**
     * Warns, once for all limits.
     *
     * @param limits limits of the application
     * @param ownPool how to give the engine a pool of its own
     */
    public void warn(TaskLimits limits, String ownPool) {
        int size = size();
        if (size == 0) {
            return;
        }
        List<String> held = new ArrayList<>();
        List<String> remedies = new ArrayList<>();
        noteDrawing(limits, size, held, remedies);
        noteOthers(limits, size, held, remedies);
        if (held.isEmpty()) {
            return;
        }
        logger.warn(
                "The engine of cluster-permits needs one of the {} connections of {}, but calls may hold all of them: {}. An"
                        + " exchange then waits for a call to end, and the lease may be over before. {}, or {}",
                size,
                name(),
                String.join("; ", held),
                size == 1 ? "Make the pool larger" : "Set " + String.join(" and ", remedies),
                ownPool);
    }

    /** Limits that take their permits from the pool: together they may take all. */
    private void noteDrawing(TaskLimits limits, int size, List<String> held, List<String> remedies) {
        List<TaskLimit> drawing = limits.all().stream()
                .filter(limit -> limit.within() == null && draws(limit))
                .toList();
        if (drawing.stream().mapToLong(EngineConnections::most).sum() >= size) {
            for (TaskLimit limit : drawing) {
                String headroom = PropertyKeys.limit(limit.name()) + ".headroom";
                held.add(allows(limit));
                remedies.add(drawing.size() == 1 ? headroom + ": 1" : "more " + headroom);
            }
        }
    }

    /** Limits for all replicas whose calls may use connections without that anybody says so. */
    private void noteOthers(TaskLimits limits, int size, List<String> held, List<String> remedies) {
        for (TaskLimit limit : limits.all()) {
            if (limit.clusterPermits() != null
                    && most(limit) >= size
                    && PoolPermits.drawing(limit) == null // its calls use that pool, which is looked at by itself
                    && isOfTheApplication()) {
                held.add(allows(limit) + ", if its calls use connections of " + name());
                remedies.add(PropertyKeys.limit(limit.name()) + ".permits: " + (size - 1));
            }
        }
    }

    private static String allows(TaskLimit limit) {
        return "limit '" + limit.name() + "' allows " + most(limit) + " calls";
    }

    /** Most calls of a limit at once: those around it hold, too. */
    private static int most(TaskLimit limit) {
        int most = Integer.MAX_VALUE;
        for (TaskLimit each = limit; each != null; each = each.within()) {
            Integer shared = each.clusterPermits();
            most = Math.min(most, shared == null ? each.permits() : Math.min(shared, each.permits()));
        }
        return most;
    }

    private boolean draws(TaskLimit limit) {
        PermitsFrom from = limit.permitsFrom();
        return from != null
                && beans.containsBean(from.bean())
                && beans.getBean(from.bean()) instanceof DataSource pool
                && isThatOfTheEngine(pool);
    }

    /** Whether calls are given it that name no data source. */
    private boolean isOfTheApplication() {
        try {
            DataSource usual = beans.getBeanProvider(DataSource.class).getIfUnique();
            return usual != null && isThatOfTheEngine(usual);
        } catch (BeansException failure) { // a lazy one, which nobody has used yet
            return false;
        }
    }

    private String name() {
        for (String name : BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, DataSource.class, true, false)) {
            if (dataSource.equals(beans.getSingleton(name))) {
                return "bean '" + name + "'";
            }
        }
        return "its DataSource";
    }

    private boolean isThatOfTheEngine(DataSource other) {
        return pool(other).equals(pool(dataSource));
    }

    /** Zero if unknown. */
    private int size() {
        try {
            PoolSizes known = beans.getBeanProvider(PoolSizes.class).getIfAvailable();
            int size = 0;
            if (dataSource instanceof PermitsSource source) {
                size = source.permits();
            } else if (known != null) {
                size = known.sizeOf(dataSource).orElse(0);
            }
            if (size == 0 && HIKARI && pool(dataSource) instanceof HikariDataSource hikari) {
                return hikari.getMaximumPoolSize() < 1 ? DEFAULT_SIZE : hikari.getMaximumPoolSize();
            }
            return size;
        } catch (RuntimeException failure) { // no reason not to start
            return 0;
        }
    }

    /** A data source may stand before another one. */
    private static DataSource pool(DataSource dataSource) {
        try {
            if (HIKARI && dataSource.isWrapperFor(HikariDataSource.class)) {
                return dataSource.unwrap(HikariDataSource.class);
            }
            return dataSource;
        } catch (SQLException | RuntimeException unknown) {
            return dataSource;
        }
    }
}
