package io.github.virtualthread.aop;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.support.AbstractBeanFactory;

/**
 * Moves the post-processors of message listeners, such as those of Kafka and Rabbit, behind all others.
 *
 * <p>They have the same order as ours, and call the very object that they are given. If one of them comes first, as with
 * {@code @EnableKafka} in an application's own class, that object would be the bean without our proxy.
 */
final class ListenersLast {

    private static final String OF_LISTENERS = "ListenerAnnotationBeanPostProcessor";

    private final AtomicBoolean done = new AtomicBoolean();

    /**
     * Does so once. To be called when the first bean is created: then all post-processors of this order have joined the
     * factory.
     */
    void arrange(BeanFactory beanFactory) {
        if (done.get() || !done.compareAndSet(false, true) || !(beanFactory instanceof AbstractBeanFactory factory)) {
            return;
        }
        for (BeanPostProcessor each : List.copyOf(factory.getBeanPostProcessors())) {
            if (each.getClass().getName().endsWith(OF_LISTENERS)) {
                factory.addBeanPostProcessor(each); // which moves it to the end
            }
        }
    }
}
