package io.github.virtualthread.config;

import io.github.virtualthread.cluster.ClusterEngine;
import io.github.virtualthread.cluster.jdbc.JdbcClusterEngine;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.pool.EngineConnections;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/** Warns if the engine that lends permits to all replicas depends on what their calls use up. */
final class EngineWarnings {

    /** The engine of the auto-configuration. */
    private static final String SPRING_BOOT = "virtualThreadClusterEngine";

    private EngineWarnings() {}

    /** Called if a limit is shared, and the engine exists. */
    static void log(TaskLimits limits, ConfigurableListableBeanFactory beans) {
        if (beans.getBean(ClusterEngine.class) instanceof JdbcClusterEngine engine) {
            new EngineConnections(engine.dataSource(), beans)
                    .warn(
                            limits,
                            beans.containsBean(SPRING_BOOT)
                                    ? "give the engine a DataSource of its own, by @VirtualThreadDataSource"
                                    : "create the JdbcClusterEngine with a DataSource of its own");
        }
    }
}
