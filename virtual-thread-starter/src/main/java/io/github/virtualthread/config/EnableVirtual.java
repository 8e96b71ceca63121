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
 * <p>The counterpart of {@link org.springframework.scheduling.annotation.EnableAsync}, for a
 * {@link org.springframework.context.annotation.Configuration} class. Spring Boot applications need not write it; where one
 * does, it takes the place of the auto-configured one and still gets its settings from the properties under
 * {@code virtual-thread}. Without Spring Boot a bean of type {@link io.github.virtualthread.limit.LimitSettings} declares a
 * limit.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Import({EngineConfiguration.class, VirtualThreadRegistrar.class})
public @interface EnableVirtual {

    /**
     * Annotation to look for on methods and classes. Where it has attributes {@code value} or {@code limit}, {@code name}
     * and {@code timeout}, of type {@code String}, they mean what they mean in {@link VirtualThread}.
     *
     * @return annotation type, {@link VirtualThread} by default
     */
    Class<? extends Annotation> annotation() default VirtualThread.class;

    /**
     * Whether proxies are subclasses even where the bean has interfaces. Under Spring Boot, false means what
     * {@code spring.aop.proxy-target-class} says, which is true unless set.
     *
     * @return whether to proxy classes
     */
    boolean proxyTargetClass() default false;

    /**
     * How methods are intercepted. With {@link AdviceMode#ASPECTJ} by an aspect that AspectJ weaves into their classes, when
     * they are loaded or when they are compiled: then calls within one class, and private and static methods, count too, and
     * an {@link #annotation()} of your own must itself be annotated with {@link VirtualThread}. A start without the weaver
     * fails. The property {@code virtual-thread.mode: aspectj} says the same; either of both is enough.
     *
     * @return {@link AdviceMode#PROXY} by default
     */
    AdviceMode mode() default AdviceMode.PROXY;

    /**
     * Order of the post-processor that applies the advice. By default it comes last and puts itself in front of all other
     * advice, so that the advice of others runs on the virtual thread.
     *
     * @return order, {@link Ordered#LOWEST_PRECEDENCE} by default
     */
    int order() default Ordered.LOWEST_PRECEDENCE;
}
