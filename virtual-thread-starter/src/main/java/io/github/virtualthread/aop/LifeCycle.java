package io.github.virtualthread.aop;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.springframework.beans.factory.Aware;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.SmartFactoryBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.context.Lifecycle;
import org.springframework.context.Phased;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.MergedAnnotations;

/**
 * The callbacks by which the container drives the life of a bean. Everything else that Spring calls, such as a listener or a
 * converter, is work.
 */
final class LifeCycle {

    private static final Set<Class<?>> INTERFACES = Set.of(
            InitializingBean.class,
            DisposableBean.class,
            SmartInitializingSingleton.class,
            Lifecycle.class,
            SmartLifecycle.class,
            Phased.class,
            Ordered.class,
            FactoryBean.class,
            SmartFactoryBean.class,
            BeanFactoryPostProcessor.class,
            BeanDefinitionRegistryPostProcessor.class);

    private static final List<String> ANNOTATIONS =
            List.of("jakarta.annotation.PostConstruct", "jakarta.annotation.PreDestroy");

    private LifeCycle() {}

    static boolean isCallback(Method method) {
        Class<?> declaring = method.getDeclaringClass();
        return INTERFACES.contains(declaring)
                || isFamily(declaring, Aware.class)
                || isFamily(declaring, BeanPostProcessor.class)
                || annotations(method).findFirst().isPresent();
    }

    /**
     * Why Spring calls a method on the bean itself, as in {@code @PostConstruct}: it creates or destroys the bean. Other
     * callbacks, such as those of {@link Lifecycle}, go through the proxy.
     */
    static Optional<String> callOnBean(AnnotatedMethod method) {
        return method.declarations().stream().flatMap(LifeCycle::callsOnBean).findFirst();
    }

    private static Stream<String> callsOnBean(Method method) {
        Class<?> declaring = method.getDeclaringClass();
        boolean isOnBean = declaring == InitializingBean.class
                || declaring == DisposableBean.class
                || isFamily(declaring, Aware.class);
        return isOnBean ? Stream.of(declaring.getSimpleName()) : annotations(method);
    }

    private static Stream<String> annotations(Method method) {
        return ANNOTATIONS.stream()
                .filter(each -> MergedAnnotations.from(method).isPresent(each))
                .map(each -> "@" + each.substring(each.lastIndexOf('.') + 1));
    }

    /** Spring and its projects have many sub-interfaces of these. */
    private static boolean isFamily(Class<?> declaring, Class<?> root) {
        return declaring.isInterface() && TypeHierarchy.isOfSpring(declaring) && root.isAssignableFrom(declaring);
    }
}
