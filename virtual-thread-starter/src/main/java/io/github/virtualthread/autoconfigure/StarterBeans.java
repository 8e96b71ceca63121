package io.github.virtualthread.autoconfigure;

import static io.github.virtualthread.config.VirtualThreadRegistrar.infrastructure;
import static io.github.virtualthread.config.VirtualThreadRegistrar.lazy;

import io.github.virtualthread.autoconfigure.properties.LimitRefresh;
import io.github.virtualthread.autoconfigure.properties.PropertiesCheck;
import io.github.virtualthread.config.BeanNames;
import io.github.virtualthread.config.EngineSettings;
import io.github.virtualthread.config.VirtualThreadRegistrar;
import io.github.virtualthread.pool.SecondConnectionWarnings;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.util.ClassUtils;

/** The beans of every application, as definitions: bean methods with conditions would cost each start more. */
record StarterBeans(Environment environment, BeanFactory beans, ClassLoader classLoader)
        implements ImportBeanDefinitionRegistrar {

    private static final String CHECK = "virtualThreadPropertiesCheck";
    private static final String POOL_SIZES = "virtualThreadPoolSizes";

    @Override
    public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
        // Spring 6.2 applies the property to auto-proxy creators only; a JDK proxy would break injection by class
        new VirtualThreadRegistrar(beans)
                .registerDefaults(
                        registry, environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true));
        registry.registerBeanDefinition(CHECK, infrastructure(PropertiesCheck.class));
        if (!beans.containsBean(BeanNames.SETTINGS)) {
            registry.registerBeanDefinition(
                    BeanNames.SETTINGS, VirtualThreadRegistrar.part(EngineSettings.class, CHECK, "settings"));
        }
        if (ClassUtils.isPresent("org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider", classLoader)
                && !beans.containsBean(POOL_SIZES)) {
            RootBeanDefinition sizes = lazy(DataSourcePoolSizes.class);
            sizes.setFallback(true);
            registry.registerBeanDefinition(POOL_SIZES, sizes);
        }
        // transaction managers ask for it
        if (ClassUtils.isPresent("org.springframework.transaction.TransactionExecutionListener", classLoader)) {
            registry.registerBeanDefinition(
                    "virtualThreadSecondConnectionWarnings", lazy(SecondConnectionWarnings.class));
        }
        if (ClassUtils.isPresent(LimitRefresh.EVENT, classLoader)) {
            registry.registerBeanDefinition("virtualThreadLimitRefresh", infrastructure(LimitRefresh.class));
        }
        // otherwise no connection is wrapped
        if (StatementsSwitch.isOn(environment)) {
            registry.registerBeanDefinition("virtualThreadStatementsSwitch", infrastructure(StatementsSwitch.class));
        }
    }
}
