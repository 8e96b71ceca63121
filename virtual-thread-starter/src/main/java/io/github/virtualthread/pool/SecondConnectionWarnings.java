package io.github.virtualthread.pool;

import io.github.virtualthread.Internal;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.limit.PermitsFrom;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.PropertyKeys;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.transaction.NoTransactionException;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Warns, once for each transaction of a name, that it begins while another one is suspended, under a limit without headroom: one
 * permit stands for one connection, and the call needs two.
 */
@Internal
public final class SecondConnectionWarnings implements TransactionExecutionListener {

    private static final Logger logger = LoggerFactory.getLogger(TaskLimit.class);

    private final BeanFactory beans;
    private final Set<String> warned = ConcurrentHashMap.newKeySet();

    /**
     * Creates a listener, which looks up nothing before the first transaction that suspends another.
     *
     * @param beans looks up the engine, its limits, and the bean that a limit takes its permits from
     */
    public SecondConnectionWarnings(BeanFactory beans) {
        this.beans = beans;
    }

    @Override
    public void beforeBegin(TransactionExecution transaction) {
        if (transaction instanceof DefaultTransactionStatus status
                && status.getSuspendedResources() != null
                && suspendsTransaction()) {
            TaskEngine engine = beans.getBeanProvider(TaskEngine.class).getIfAvailable();
            if (engine != null) {
                beans.getBean(TaskLimits.class).all().stream()
                        .filter(engine::holdsPermitOf)
                        .forEach(limit -> warn(limit, status.getTransactionName()));
            }
        }
    }

    /**
     * Whether a transaction of the same pool is suspended. A scope without transaction, as of {@code SUPPORTS}, is suspended too, and
     * one of another pool keeps its connection bound to the thread.
     */
    private static boolean suspendsTransaction() {
        return isInTransaction()
                && TransactionSynchronizationManager.getResourceMap().keySet().stream()
                        .noneMatch(DataSource.class::isInstance);
    }

    private static boolean isInTransaction() {
        try {
            return TransactionAspectSupport.currentTransactionStatus().hasTransaction(); // still that of the caller
        } catch (NoTransactionException byHand) {
            return true;
        }
    }

    private void warn(TaskLimit limit, String name) {
        PermitsFrom from = limit.permitsFrom();
        if (from != null
                && from.headroom() == 0
                && beans.isTypeMatch(from.bean(), DataSource.class)
                && warned.add(limit.name() + " " + name)) {
            logger.warn(
                    "{} begins while its caller is inside another transaction, under limit '{}', which has a permit for each"
                            + " connection of '{}': the call needs two connections and has one permit. Once all connections"
                            + " are held this way, none of these calls can proceed until a timeout. Set {}.headroom to at"
                            + " least 1.",
                    name.isEmpty() ? "A transaction" : "Transaction " + name,
                    limit.name(),
                    from.bean(),
                    PropertyKeys.limit(limit.name()));
        }
    }
}
