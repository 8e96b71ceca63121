package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.aop.VirtualThreadBeanPostProcessor;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Applies {@code spring.aop.proxy-target-class}, whose default is true under Spring Boot, to the post-processor. Spring 6.2
 * does so for auto-proxy creators only; a JDK proxy would break injection by class.
 */
final class ClassProxyingRegistrar implements ImportBeanDefinitionRegistrar {

    private final Environment environment;

    ClassProxyingRegistrar(Environment environment) {
        this.environment = environment;
    }

    @Override
    public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
        boolean proxyTargetClass = environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true);
        if (proxyTargetClass && registry instanceof ListableBeanFactory beanFactory) {
            for (String name : beanFactory.getBeanNamesForType(VirtualThreadBeanPostProcessor.class, true, false)) {
                registry.getBeanDefinition(name).getPropertyValues().add("proxyTargetClass", true);
            }
        }
    }
}
