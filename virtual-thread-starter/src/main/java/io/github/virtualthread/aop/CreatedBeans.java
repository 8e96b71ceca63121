package io.github.virtualthread.aop;

import io.github.virtualthread.mistake.Mistake;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.InstantiationAwareBeanPostProcessor;

/**
 * Remembers the beans with annotated methods that were created before the checks: what they really are, how they were
 * proxied, and which of them our advice has never seen.
 *
 * <p>Joins the factory before all other post-processors. So it also sees what they pull in, but not what somebody
 * registered as a ready object, such as a mock.
 */
final class CreatedBeans implements InstantiationAwareBeanPostProcessor {

    private final AnnotatedMethods methods;
    private final Consumer<Object> made;
    private final Map<String, Class<?>> unseen = new ConcurrentHashMap<>();
    private final Map<String, Created> created = new ConcurrentHashMap<>();
    private final Map<Created, Mistake> failures = new ConcurrentHashMap<>();

    /**
     * Remembers nothing yet.
     *
     * @param made told of each object as soon as it is there
     */
    CreatedBeans(AnnotatedMethods methods, Consumer<Object> made) {
        this.methods = methods;
        this.made = made;
    }

    @Override
    public boolean postProcessAfterInstantiation(Object bean, String beanName) {
        made.accept(bean);
        return true;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (!methods.in(bean.getClass()).isEmpty()) {
            made.accept(bean); // what a factory bean made is seen here for the first time
            unseen.put(key(bean, beanName), TypeHierarchy.userClass(bean.getClass()));
        }
        return bean;
    }

    /** Our post-processor has the bean in its hands. */
    void seen(Object bean, String beanName) {
        unseen.remove(key(bean, beanName));
    }

    /** The bean went on to the application, proxied or not. */
    void add(Object bean, String beanName, Created as) {
        created.put(key(bean, beanName), as);
    }

    void addFailure(Created bean, Mistake mistake) {
        failures.put(bean, mistake);
    }

    /** Beans that were created before our post-processor could see them, by name. */
    Map<String, Class<?>> unseen() {
        return new LinkedHashMap<>(unseen);
    }

    Map<String, Created> created() {
        return new LinkedHashMap<>(created);
    }

    /** What could not be proxied, and why. */
    Map<Created, Mistake> failures() {
        return new LinkedHashMap<>(failures);
    }

    /** A factory and what it makes have one name, and differ by the prefix. */
    private static String key(Object bean, String beanName) {
        return bean instanceof FactoryBean ? BeanFactory.FACTORY_BEAN_PREFIX + beanName : beanName;
    }

    /**
     * A bean as it was created.
     *
     * @param type its class
     * @param classProxy whether its proxy is a subclass rather than an implementation of its interfaces
     */
    record Created(Class<?> type, boolean classProxy) {}
}
