package io.github.virtualthread.config;

import io.github.virtualthread.aop.VirtualThreadBeanPostProcessor;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.util.List;
import java.util.Map;
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
 * and the start-up check. It registers definitions, so that neither needs a configuration class to be created first.
 */
final class VirtualThreadRegistrar implements ImportBeanDefinitionRegistrar {

    static final String POST_PROCESSOR = "io.github.virtualthread.config.internalVirtualThreadPostProcessor";
    static final String STARTUP_CHECK = "io.github.virtualthread.config.internalStartupCheck";

    private static final String ATTRIBUTES = EnableVirtual.class.getName();

    @Override
    public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
        MergedAnnotation<EnableVirtual> enable = importing.getAnnotations().get(EnableVirtual.class);
        RootBeanDefinition postProcessor = infrastructure(VirtualThreadBeanPostProcessor.class);
        // by name: code that is generated ahead of time may not see the class
        postProcessor
                .getPropertyValues()
                .add("annotationType", enable.getClass("annotation").getName())
                .add("proxyTargetClass", enable.getBoolean("proxyTargetClass"))
                .add("mode", enable.getEnum("mode", AdviceMode.class))
                .add("order", enable.getInt("order"));
        // as written in the source: the properties of the definition may be changed afterwards
        Map<String, Object> attributes = enable.asMap(Adapt.CLASS_TO_STRING);
        postProcessor.setAttribute(ATTRIBUTES, attributes);
        if (!registry.containsBeanDefinition(POST_PROCESSOR)) {
            registry.registerBeanDefinition(POST_PROCESSOR, postProcessor);
            RootBeanDefinition check = infrastructure(StartupCheck.class);
            check.setAutowireMode(AbstractBeanDefinition.AUTOWIRE_CONSTRUCTOR);
            registry.registerBeanDefinition(STARTUP_CHECK, check);
        } else if (!attributes.equals(registry.getBeanDefinition(POST_PROCESSOR).getAttribute(ATTRIBUTES))) {
            throw new VirtualThreadConfigurationException(List.of(new Mistake(
                    "%s has @EnableVirtual with attributes that differ from those of another class of the same application context"
                            .formatted(importing.getClassName()),
                    "Keep one @EnableVirtual, or give all of them the same attributes.")));
        }
    }

    private static RootBeanDefinition infrastructure(Class<?> type) {
        RootBeanDefinition definition = new RootBeanDefinition(type);
        definition.setRole(BeanDefinition.ROLE_INFRASTRUCTURE);
        return definition;
    }
}
