package io.github.virtualthread.aop;

import io.github.virtualthread.mistake.Mistake;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.TargetClassAware;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.core.NestedExceptionUtils;

/** Finds out about beans that may be proxies. */
final class ProxiedBeans {

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

    static Mistake failure(Class<?> type, String annotation, Throwable failure) {
        return new Mistake(
                "%s has methods with %s, but cannot be proxied: %s"
                        .formatted(type.getName(), annotation, NestedExceptionUtils.getMostSpecificCause(failure)),
                "Make it a class that can be subclassed, or let it implement an interface and use interface proxies.");
    }
}
