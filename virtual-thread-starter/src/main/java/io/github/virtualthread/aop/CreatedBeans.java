package io.github.virtualthread.aop;

import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Remembers the beans with annotated methods that were created before the checks: their classes, how they were proxied, and
 * which of them our post-processor has not seen. Checks those that are created later.
 *
 * <p>It joins the factory before all other post-processors, so it also sees the beans that they need. It does not see
 * objects that were registered ready-made, such as mocks.
 */
final class CreatedBeans implements BeanPostProcessor {

    /** Beans that were created before our post-processor could see them, by name. */
    final Map<String, Class<?>> unseen = new ConcurrentHashMap<>();

    /** Beans that could not be proxied, and why. */
    final Map<Created, Mistake> failures = new ConcurrentHashMap<>();

    private final AnnotatedMethods methods;
    private final Map<String, Created> created = new ConcurrentHashMap<>();
    private volatile @Nullable MethodChecks lateChecks;

    CreatedBeans(AnnotatedMethods methods) {
        this.methods = methods;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (methods.areIn(bean.getClass())) {
            unseen.put(key(bean, beanName), TypeHierarchy.userClass(bean.getClass()));
        }
        return bean;
    }

    /** Our post-processor has seen the bean. */
    void seen(Object bean, String beanName) {
        unseen.remove(key(bean, beanName));
    }

    /** Beans that are added from now on are checked at once. */
    void checkNow(MethodChecks checks) {
        lateChecks = checks;
    }

    /**
     * The bean goes to the application, proxied or not; a failure says why not.
     *
     * @throws VirtualThreadConfigurationException if the bean is checked at once and has mistakes
     */
    void add(Object bean, String beanName, Created as, @Nullable Mistake failure) {
        MethodChecks checks = lateChecks;
        if (checks == null) {
            created.put(key(bean, beanName), as);
            if (failure != null) {
                failures.put(as, failure);
            }
            return;
        }
        List<Mistake> mistakes = checks.mistakes(as, failure);
        if (!mistakes.isEmpty()) {
            throw new VirtualThreadConfigurationException(mistakes);
        }
    }

    Map<String, Created> created() {
        return new LinkedHashMap<>(created);
    }

    /** A factory and its product have the same name; that of the factory gets the prefix. */
    private static String key(Object bean, String beanName) {
        return bean instanceof FactoryBean ? BeanFactory.FACTORY_BEAN_PREFIX + beanName : beanName;
    }

    /**
     * A bean as it was created.
     *
     * @param type its class, or an interface of it if nothing more is known; of a generated subclass, the class of the user
     * @param classProxy whether its proxy is a subclass rather than an implementation of its interfaces
     */
    record Created(Class<?> type, boolean classProxy) {

        Created {
            type = TypeHierarchy.userClass(type);
        }
    }
}
