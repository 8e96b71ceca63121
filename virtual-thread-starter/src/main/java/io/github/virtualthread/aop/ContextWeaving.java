package io.github.virtualthread.aop;

import io.github.virtualthread.aop.CreatedBeans.Created;
import io.github.virtualthread.aop.VirtualThreadInterceptor.Resolution;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.InstantiationAwareBeanPostProcessor;

/**
 * What one application context has to do with woven code. In mode PROXY that is to let it run in place: a method that is woven
 * all the same must not change threads twice.
 *
 * <p>Exists only where AspectJ is on the class path, as woven code needs it to run.
 */
final class ContextWeaving implements InstantiationAwareBeanPostProcessor {

    private final AnnotatedMethods methods;
    private final boolean wanted;
    private final WovenContext context;
    private final DoubleAdviceCheck advice;
    private final Map<Class<?>, Boolean> woven = new ConcurrentHashMap<>();
    private volatile @Nullable MethodChecks checks;

    /**
     * Weaving of one context.
     *
     * @param wanted whether annotated methods are run by the aspect
     * @param interceptors makes what runs them
     */
    ContextWeaving(
            AnnotatedMethods methods, boolean wanted, Function<Resolution, VirtualThreadInterceptor> interceptors) {
        this.methods = methods;
        this.wanted = wanted;
        this.context = wanted ? WovenContext.of(interceptors.apply(this::resolve)) : WovenContext.inPlace();
        this.advice = new DoubleAdviceCheck(methods);
    }

    /** Sees every bean from now on, also those that are created too early for other post-processors. */
    void join(ConfigurableListableBeanFactory factory) {
        factory.addBeanPostProcessor(this);
        if (!wanted) {
            WovenCalls.SHARED.begin(context);
        }
    }

    @Override
    public boolean postProcessAfterInstantiation(Object bean, String beanName) {
        made(bean);
        return true;
    }

    /** What a factory bean made is seen here for the first time. */
    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        made(bean);
        return bean;
    }

    private void made(Object bean) {
        Class<?> type = bean.getClass();
        if (!methods.in(type).isEmpty() && (wanted || isWoven(type))) {
            WovenCalls.SHARED.made(bean, context);
        }
    }

    /** All singletons are ready. */
    void start(BeanFactory factory) {
        if (wanted) {
            context.by(factory.getBean(CallEnvironment.class).engine());
            WovenCalls.SHARED.start(context);
        }
    }

    void close() {
        WovenContext parent = WovenCalls.SHARED.sharing(context);
        WovenCalls.SHARED.end(context);
        context.close(parent);
    }

    /** What is wrong with a bean that has been made, null for nothing. */
    @Nullable
    Mistake check(Object bean, Class<?> type) {
        return wanted ? advice.check(bean, type) : null;
    }

    /**
     * What is wrong with all beans that have been made.
     *
     * @param checks by which objects that are no beans are checked when they are called
     */
    List<Mistake> check(ConfigurableListableBeanFactory factory, Map<String, Created> created, MethodChecks checks) {
        this.checks = checks;
        return wanted ? advice.check(factory, created) : List.of();
    }

    private @Nullable AnnotatedMethod resolve(Method method, Class<?> targetClass) {
        MethodChecks checking = checks;
        if (checking != null && methods.find(method, targetClass) != null) {
            List<Mistake> mistakes = checking.check(targetClass, true).mistakes();
            if (!mistakes.isEmpty()) {
                throw new VirtualThreadConfigurationException(mistakes);
            }
        }
        return WovenContext.resolve(methods, method, targetClass);
    }

    private boolean isWoven(Class<?> type) {
        Boolean known = woven.get(type);
        if (known == null) {
            known = methods.in(type).stream().map(AnnotatedMethod::method).anyMatch(AspectJRuntime::isWoven);
            woven.put(type, known);
        }
        return known;
    }
}
