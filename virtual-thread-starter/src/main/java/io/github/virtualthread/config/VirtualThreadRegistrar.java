package io.github.virtualthread.config;

import io.github.virtualthread.Internal;
import io.github.virtualthread.aop.CallEnvironment;
import io.github.virtualthread.aop.VirtualThreadBeanPostProcessor;
import io.github.virtualthread.cluster.ClusterShares;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotation.Adapt;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Registers the beans that each context needs for itself: the post-processor, with the attributes of {@link EnableVirtual},
 * and the start-up check. In the topmost context also those of the engine: two engines would be two limits of one name.
 *
 * <p>These are definitions, and neither bean methods nor conditions: a start costs less, and none of the engine's classes is needed
 * before the first of its beans.
 */
@Internal
public final class VirtualThreadRegistrar implements ImportBeanDefinitionRegistrar {

    private static final String ATTRIBUTES = EnableVirtual.class.getName();

    private final BeanFactory beans;

    /**
     * Creates a registrar.
     *
     * @param beans factory whose definitions are registered
     */
    public VirtualThreadRegistrar(BeanFactory beans) {
        this.beans = beans;
    }

    @Override
    public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
        MergedAnnotation<EnableVirtual> enable = importing.getAnnotations().get(EnableVirtual.class);
        Map<String, Object> attributes = asWritten(enable);
        if (!registry.containsBeanDefinition(BeanNames.POST_PROCESSOR)) {
            RootBeanDefinition postProcessor = new RootBeanDefinition(VirtualThreadBeanPostProcessor.class);
            // by name: code that is generated ahead of time may not see the class
            postProcessor
                    .getPropertyValues()
                    .add("annotationType", enable.getClass("annotation").getName())
                    .add("proxyTargetClass", enable.getBoolean("proxyTargetClass"))
                    .add("mode", enable.getEnum("mode", AdviceMode.class))
                    .add("order", enable.getInt("order"));
            postProcessor.setAttribute(ATTRIBUTES, attributes);
            register(postProcessor, registry);
        } else if (!attributes.equals(Objects.requireNonNullElseGet(
                registry.getBeanDefinition(BeanNames.POST_PROCESSOR).getAttribute(ATTRIBUTES),
                () -> asWritten(MergedAnnotation.of(EnableVirtual.class))))) {
            throw new VirtualThreadConfigurationException(List.of(new Mistake(
                    "%s has @EnableVirtual with attributes that differ from those of another class of the same application context"
                            .formatted(importing.getClassName()),
                    "Keep one @EnableVirtual, or give all of them the same attributes.")));
        }
    }

    /** Not as the definition has them, because its properties may be changed. */
    private static Map<String, Object> asWritten(MergedAnnotation<EnableVirtual> enable) {
        return enable.asMap(Adapt.CLASS_TO_STRING);
    }

    /**
     * Registers the beans as for {@link EnableVirtual} without attributes. If the context has it, it stays as it is.
     *
     * @param registry where they are registered
     * @param proxyTargetClass whether proxies are subclasses, also those of the annotation
     */
    public void registerDefaults(BeanDefinitionRegistry registry, boolean proxyTargetClass) {
        if (!registry.containsBeanDefinition(BeanNames.POST_PROCESSOR)) {
            RootBeanDefinition postProcessor = new RootBeanDefinition(VirtualThreadBeanPostProcessor.class);
            // for a property, Spring would inspect the whole class
            postProcessor.getConstructorArgumentValues().addIndexedArgumentValue(0, proxyTargetClass);
            register(postProcessor, registry);
        } else if (proxyTargetClass) {
            registry.getBeanDefinition(BeanNames.POST_PROCESSOR)
                    .getPropertyValues()
                    .add("proxyTargetClass", true);
        }
    }

    private void register(RootBeanDefinition postProcessor, BeanDefinitionRegistry registry) {
        registry.registerBeanDefinition(BeanNames.POST_PROCESSOR, infrastructure(postProcessor));
        registry.registerBeanDefinition(BeanNames.STARTUP_CHECK, infrastructure(StartupCheck.class));
        if (beans.containsBean(BeanNames.ENGINE)) {
            return; // of a parent
        }
        registry.registerBeanDefinition(BeanNames.LIFECYCLE, infrastructure(TaskEngineLifecycle.class));
        registry.registerBeanDefinition(BeanNames.ENGINE_BEANS, lazy(EngineBeans.class));
        RootBeanDefinition shares = part(ClusterShares.class, "shares");
        shares.setDestroyMethodName("stop"); // a context that fails after its start does not stop its beans
        registry.registerBeanDefinition("virtualThreadClusterShares", shares);
        registry.registerBeanDefinition(BeanNames.LIMITS, part(TaskLimits.class, "limits"));
        registry.registerBeanDefinition(BeanNames.ENGINE, part(TaskEngine.class, "engine"));
        registry.registerBeanDefinition(BeanNames.BY_HAND, part(VirtualThreads.class, "byHand"));
        registry.registerBeanDefinition("virtualThreadInterception", part(CallEnvironment.class, "environment"));
    }

    private static RootBeanDefinition part(Class<?> type, String method) {
        return part(type, BeanNames.ENGINE_BEANS, method);
    }

    /**
     * Returns the definition of a bean that another bean makes, when somebody needs it.
     *
     * @param type type of the bean: Spring would look at all methods and load what they return
     * @param factory name of the other bean
     * @param method its method, which gets other beans
     * @return a definition
     */
    public static RootBeanDefinition part(Class<?> type, String factory, String method) {
        RootBeanDefinition part = lazy(null);
        part.setTargetType(type);
        part.setFactoryBeanName(factory);
        part.setUniqueFactoryMethodName(method);
        return part;
    }

    /**
     * As {@link #infrastructure(Class)}, for a bean that is not created before somebody needs it.
     *
     * @param type class of the bean, null if another bean makes it
     * @return a definition
     */
    public static RootBeanDefinition lazy(@Nullable Class<?> type) {
        RootBeanDefinition definition = infrastructure(type);
        definition.setLazyInit(true);
        return definition;
    }

    /**
     * Returns the definition of a bean of the starter, whose constructor gets other beans.
     *
     * @param type class of the bean, null if another bean makes it
     * @return a definition
     */
    public static RootBeanDefinition infrastructure(@Nullable Class<?> type) {
        RootBeanDefinition definition = new RootBeanDefinition(type);
        definition.setAutowireMode(AbstractBeanDefinition.AUTOWIRE_CONSTRUCTOR);
        return infrastructure(definition);
    }

    /** Spring, and our own check, look for annotated methods in the target class of each bean; ours have none. */
    private static RootBeanDefinition infrastructure(RootBeanDefinition definition) {
        definition.setRole(BeanDefinition.ROLE_INFRASTRUCTURE);
        definition.setAttribute(AutoProxyUtils.ORIGINAL_TARGET_CLASS_ATTRIBUTE, Object.class);
        return definition;
    }
}
