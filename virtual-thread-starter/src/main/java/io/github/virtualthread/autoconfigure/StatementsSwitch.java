package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.aop.VirtualThreadBeanPostProcessor;
import io.github.virtualthread.autoconfigure.properties.PropertiesBinding;
import io.github.virtualthread.jdbc.HikariStatements;
import javax.sql.DataSource;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Adds {@link HikariStatements} if the properties ask for it, before post-processors are created that may need a data source. The
 * properties are those of the start, also in an application that was processed ahead of time.
 */
record StatementsSwitch(Environment environment) implements BeanFactoryPostProcessor {

    private static final String KEY = "virtual-thread.jdbc.cancel-statements";

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
        if (VirtualThreadBeanPostProcessor.read(environment, KEY, Boolean.class, false)
                && !PropertiesBinding.isAheadOfTime()
                && beanFactory.getBeanNamesForType(HikariStatements.class, true, false).length == 0) {
            HikariStatements statements = new HikariStatements();
            beanFactory.addBeanPostProcessor(statements);
            // another such post-processor may have needed it before
            for (String name : beanFactory.getSingletonNames()) {
                if (beanFactory.getSingleton(name) instanceof DataSource early) {
                    statements.postProcessAfterInitialization(early, name);
                }
            }
        }
    }

    static boolean isOn(Environment environment) {
        return PropertiesBinding.isAheadOfTime()
                || VirtualThreadBeanPostProcessor.read(environment, KEY, Boolean.class, false);
    }

    /** Whether an interrupt closes the connection of a query, because nothing cancels the statements of a data source. */
    static boolean closesConnections(ConfigurableListableBeanFactory beans, Environment environment) {
        if (VirtualThreadBeanPostProcessor.read(environment, KEY, Boolean.class, false)) {
            return false; // where it cannot reach a pool, it says so itself
        }
        for (String name : beans.getBeanNamesForType(DataSource.class, true, false)) {
            if (!(beans.getSingleton(name) instanceof DataSource pool) || !HikariStatements.isCovered(pool)) {
                return true;
            }
        }
        return false;
    }

    static final class OnStatements implements Condition {

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            return isOn(context.getEnvironment());
        }
    }
}
