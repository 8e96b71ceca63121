package io.github.virtualthread.config;

import io.github.virtualthread.VirtualThread;
import java.lang.annotation.Annotation;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;

/**
 * Runs methods annotated with {@link VirtualThread} on virtual threads, and those with
 * {@link io.github.virtualthread.Limited} under their limits, for all beans of the application context.
 *
 * <p>The counterpart of {@link org.springframework.scheduling.annotation.EnableAsync}, for a {@link
 * org.springframework.context.annotation.Configuration} class. Spring Boot applications do not need it; if one declares it,
 * it replaces the auto-configured one and still gets its settings from the properties under {@code virtual-thread}. Without
 * Spring Boot, a bean of type {@link io.github.virtualthread.limit.LimitSettings} declares a limit.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Import(VirtualThreadRegistrar.class)
public @interface EnableVirtual {

    /**
     * Annotation to look for on methods and classes. Its attributes {@code value}, {@code limit}, {@code name},
     * {@code timeout}, {@code deadline} and {@code key}, if it has them with type {@code String}, mean what they mean in {@link VirtualThread}.
     *
     * @return annotation type, {@link VirtualThread} by default
     */
    Class<? extends Annotation> annotation() default VirtualThread.class;

    /**
     * Whether proxies are subclasses even if the bean has interfaces. Under Spring Boot, false means the value of
     * {@code spring.aop.proxy-target-class}, which is true by default.
     *
     * @return whether to proxy classes
     */
    boolean proxyTargetClass() default false;

    /**
     * How methods are intercepted. With {@link AdviceMode#ASPECTJ}, AspectJ weaves an aspect into their classes, when they
     * are loaded or when they are compiled. Then calls within one class, and private and static methods, are intercepted too,
     * and a custom {@link #annotation()} must itself be annotated with {@link VirtualThread}. The start fails if the weaver
     * is missing. The property {@code virtual-thread.mode: aspectj} has the same effect; one of the two is enough.
     *
     * @return {@link AdviceMode#PROXY} by default
     */
    AdviceMode mode() default AdviceMode.PROXY;

    /**
     * Order of the post-processor that applies the advice. By default it runs last and puts its advice in front of all other
     * advice, so that other advice runs on the virtual thread.
     *
     * @return order, {@link Ordered#LOWEST_PRECEDENCE} by default
     */
    int order() default Ordered.LOWEST_PRECEDENCE;
}
