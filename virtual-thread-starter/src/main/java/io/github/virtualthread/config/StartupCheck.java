package io.github.virtualthread.config;

import static io.github.virtualthread.config.EngineSettings.DEFAULTS;

import io.github.virtualthread.aop.Findings;
import io.github.virtualthread.aop.VirtualThreadBeanPostProcessor;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimits;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.function.SingletonSupplier;

/**
 * Fails the start with one exception that lists every mistake. If there is none, logs one line that says what was found.
 *
 * <p>It runs at every start of every application. So it asks Spring for as little as possible by type, because Spring then asks
 * all beans. Where nothing is annotated and nothing is set, it needs no engine, and none of the classes of its check.
 */
final class StartupCheck implements SmartInitializingSingleton, BeanFactoryAware {

    private final ObjectProvider<EngineSettings> settings;
    private @Nullable ConfigurableListableBeanFactory beanFactory;

    /** The parameter has the name of its bean, see {@link EngineBeans}. */
    StartupCheck(ObjectProvider<EngineSettings> virtualThreadSettings) {
        this.settings = virtualThreadSettings;
    }

    @Override
    public void setBeanFactory(BeanFactory beanFactory) {
        this.beanFactory = (ConfigurableListableBeanFactory) beanFactory;
    }

    @Override
    public void afterSingletonsInstantiated() {
        ConfigurableListableBeanFactory factory = Objects.requireNonNull(beanFactory);
        VirtualThreadBeanPostProcessor postProcessor =
                factory.getBean(BeanNames.POST_PROCESSOR, VirtualThreadBeanPostProcessor.class);
        EngineSettings given = settings.getIfAvailable(() -> DEFAULTS);
        List<StartupPart> parts = StartupPart.BEANS.stream()
                .filter(factory::containsBean)
                .map(name -> factory.getBean(name, StartupPart.class))
                .toList();
        Supplier<TaskLimits> limits = SingletonSupplier.of(() -> factory.getBean(BeanNames.LIMITS, TaskLimits.class));
        Findings findings = postProcessor.check(limits, given.methods());
        // not given.equals(...): the first equals of a record loads 19 classes, and most starts have the very defaults
        if (isIdle(factory, postProcessor, findings) && Objects.equals(given, DEFAULTS) && parts.isEmpty()) {
            new StartupReport(given, factory.getBeanClassLoader(), List::of)
                    .sumUp(List.of(), List.of(), postProcessor.isEnabled(), parts);
        } else {
            TaskLimits present = limits.get();
            EngineBeans engine = factory.getBean(BeanNames.ENGINE_BEANS, EngineBeans.class);
            new EngineStart(factory, engine, given, present, findings, parts).run(postProcessor);
        }
    }

    /** Whether nothing needs the engine, as far as is known. In a child context that of the parent is asked. */
    private static boolean isIdle(
            ConfigurableListableBeanFactory factory, VirtualThreadBeanPostProcessor postProcessor, Findings findings) {
        return findings.methods().isEmpty()
                && findings.mistakes().isEmpty()
                && !postProcessor.isWeaving()
                && factory.containsBeanDefinition(BeanNames.ENGINE_BEANS)
                && !factory.containsSingleton(BeanNames.ENGINE_BEANS)
                && factory.getBeanNamesForType(LimitSettings.class).length == 0;
    }
}
