package io.github.virtualthread.pool;

import io.github.virtualthread.Internal;
import io.github.virtualthread.execution.Calls;
import io.github.virtualthread.execution.TaskCall;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.execution.TaskSpec;
import io.github.virtualthread.limit.PermitsFrom;
import io.github.virtualthread.limit.TaskLimit;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Warns, once for each method, that a caller inside a transaction holds a connection while it waits for another one. */
@Internal
public final class TransactionWarnings implements TaskListener {

    private static final Logger logger = LoggerFactory.getLogger(TaskLimit.class);

    private final BeanFactory beans;
    private final Map<String, Boolean> dataSources = new ConcurrentHashMap<>();
    private final Set<String> warned = ConcurrentHashMap.newKeySet();

    /**
     * Creates a listener.
     *
     * @param beans looks up the bean that a limit takes its permits from
     */
    public TransactionWarnings(BeanFactory beans) {
        this.beans = beans;
    }

    @Override
    public boolean hears(TaskSpec spec) {
        return PoolPermits.drawing(spec.limit()) != null;
    }

    @Override
    public void submitted(TaskCall call) {
        TaskLimit limit = PoolPermits.drawing(call.spec().limit());
        PermitsFrom from = limit == null ? null : limit.permitsFrom();
        if (limit != null
                && from != null
                && TransactionSynchronizationManager.isActualTransactionActive()
                && isDataSource(from.bean())
                && Calls.takesPermitOf(call, limit)
                && warned.add(call.spec().name())) {
            logger.warn(
                    "{} is called inside a transaction and under limit '{}', whose permits are the connections of '{}': its"
                            + " caller holds a connection while it waits for a permit. Once all connections are held this"
                            + " way, none of these calls can proceed until a timeout. Call it before the transaction begins"
                            + " or after it has ended, or put the limit on the method that begins the transaction.",
                    call.spec().name(),
                    limit.name(),
                    from.bean());
        }
    }

    /** Other pools, such as those of HTTP clients, have nothing to do with transactions. */
    private boolean isDataSource(String bean) {
        return dataSources.computeIfAbsent(bean, name -> beans.isTypeMatch(name, DataSource.class));
    }
}
