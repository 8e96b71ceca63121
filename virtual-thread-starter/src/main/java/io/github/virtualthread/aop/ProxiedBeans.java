package io.github.virtualthread.aop;

import io.github.virtualthread.mistake.Mistake;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.TargetClassAware;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.ProxyConfig;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.util.ClassUtils;

/** Finds out about beans that may be proxies, and about proxies to come. */
final class ProxiedBeans {

    /** Set by Spring 7 for beans that ask for interface proxies. */
    private static final String EXPOSED_INTERFACES = AutoProxyUtils.class.getName() + ".exposedInterfaces";

    private ProxiedBeans() {}

    /** The class of the bean that has annotated methods: that of the target, otherwise that of the proxy, otherwise null. */
    static @Nullable Class<?> annotatedType(Object bean, AnnotatedMethods methods) {
        if (bean instanceof TargetClassAware) {
            Class<?> target = AopProxyUtils.ultimateTargetClass(bean);
            if (!methods.in(target).isEmpty()) {
                return TypeHierarchy.userClass(target);
            }
        }
        return methods.in(bean.getClass()).isEmpty() ? null : TypeHierarchy.userClass(bean.getClass());
    }

    /** The object behind all proxies that have a fixed target. */
    static Object rawTarget(Object bean) {
        Object target = AopProxyUtils.getSingletonTarget(bean);
        return target == null ? bean : rawTarget(target);
    }

    /** Whether the bean has our advice already: it may have two names, or be returned by a factory again. */
    static boolean isAdvised(Object bean) {
        if (bean instanceof Advised advised
                && Arrays.stream(advised.getAdvisors()).anyMatch(VirtualThreadAdvisor.class::isInstance)) {
            return true;
        }
        Object target = AopProxyUtils.getSingletonTarget(bean);
        return target != null && isAdvised(target);
    }

    /** Whether a proxy is a subclass of its target's class; null if the bean is not a proxy. */
    static @Nullable Boolean isClassProxy(Object bean) {
        return bean instanceof SpringProxy ? !Proxy.isProxyClass(bean.getClass()) : null;
    }

    /** Whether the proxy of a bean will be a subclass, by the rules of Spring's post-processors. */
    static boolean predictsClassProxy(
            ProxyConfig config,
            ConfigurableListableBeanFactory factory,
            String beanName,
            Class<?> type,
            BiConsumer<Class<?>, ProxyFactory> interfaces) {
        if (type.isInterface() || Proxy.isProxyClass(type) || ClassUtils.isLambdaClass(type)) {
            return false;
        }
        if (AutoProxyUtils.shouldProxyTargetClass(factory, beanName)) {
            return true;
        }
        boolean isAskedForInterfaces = factory.containsBeanDefinition(beanName)
                && factory.getBeanDefinition(beanName).hasAttribute(EXPOSED_INTERFACES);
        if (config.isProxyTargetClass() && !isAskedForInterfaces) {
            return true;
        }
        ProxyFactory probe = new ProxyFactory();
        interfaces.accept(type, probe);
        return probe.isProxyTargetClass();
    }

    static Mistake failure(Class<?> type, String annotation, Throwable failure) {
        return new Mistake(
                "%s has methods with %s, but cannot be proxied: %s"
                        .formatted(type.getName(), annotation, NestedExceptionUtils.getMostSpecificCause(failure)),
                "Make it a class that can be subclassed, or let it implement an interface and use interface proxies.");
    }
}
