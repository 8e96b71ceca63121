package io.github.virtualthread.aop;

import io.github.virtualthread.aop.CreatedBeans.Created;
import io.github.virtualthread.aop.VirtualThreadInterceptor.Resolution;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * What one application context has to do with woven code. In mode PROXY that is to let it run in place: a method that is woven
 * all the same must not change threads twice.
 */
final class Weaving {

    private final AnnotatedMethods methods;
    private final BooleanSupplier wanted;
    private final Function<Resolution, VirtualThreadInterceptor> interceptors;
    private final ProxyAdvice advice;
    private final Map<Class<?>, Boolean> woven = new ConcurrentHashMap<>();
    private final AtomicReference<@Nullable WovenContext> context = new AtomicReference<>();
    private volatile @Nullable MethodChecks checks;

    /**
     * Weaving of which nothing is known yet.
     *
     * @param wanted whether annotated methods are run by the aspect; asked when the first bean arrives
     * @param interceptors makes what runs them
     */
    Weaving(
            AnnotatedMethods methods,
            BooleanSupplier wanted,
            Function<Resolution, VirtualThreadInterceptor> interceptors) {
        this.methods = methods;
        this.wanted = wanted;
        this.interceptors = interceptors;
        this.advice = new ProxyAdvice(methods);
    }

    /** The context is being made. */
    void begin() {
        if (!wanted.getAsBoolean()) {
            WovenCalls.SHARED.begin(context());
        }
    }

    /** A bean has been instantiated, and not been given its properties yet. */
    void made(Object bean) {
        Class<?> type = bean.getClass();
        if (!methods.in(type).isEmpty() && (wanted.getAsBoolean() || isWoven(type))) {
            WovenCalls.SHARED.made(bean, context());
        }
    }

    /** The methods have been checked; objects that are no beans are checked by the same when they are called. */
    void checkBy(MethodChecks checks) {
        this.checks = checks;
    }

    /** All singletons are ready. */
    void start(BeanFactory factory) {
        if (wanted.getAsBoolean()) {
            context().by(factory.getBean(CallEnvironment.class).engine());
            WovenCalls.SHARED.start(context());
        }
    }

    void close() {
        WovenContext ended = context();
        WovenContext parent = WovenCalls.SHARED.sharing(ended);
        WovenCalls.SHARED.end(ended);
        ended.close(parent);
    }

    /** What is wrong with a bean that has been made, null for nothing. */
    @Nullable
    Mistake check(Object bean, Class<?> type) {
        return wanted.getAsBoolean() ? advice.check(bean, type) : null;
    }

    List<Mistake> check(ConfigurableListableBeanFactory factory, Map<String, Created> created) {
        return wanted.getAsBoolean() ? advice.check(factory, created) : List.of();
    }

    /** One for good: a bean that belonged to another would not notice the end. */
    private WovenContext context() {
        WovenContext known = context.get();
        if (known != null) {
            return known;
        }
        WovenContext made =
                wanted.getAsBoolean() ? WovenContext.of(interceptors.apply(this::resolve)) : WovenContext.inPlace();
        WovenContext first = context.compareAndExchange(null, made);
        return first == null ? made : first;
    }

    private @Nullable AnnotatedMethod resolve(Method method, Class<?> targetClass) {
        MethodChecks checking = checks;
        if (checking != null && methods.find(method, targetClass) != null) {
            List<Mistake> mistakes = checking.check(targetClass, true).mistakes();
            if (!mistakes.isEmpty()) {
                throw new VirtualThreadConfigurationException(mistakes);
            }
        }
        return WovenMethods.resolve(methods, method, targetClass);
    }

    private boolean isWoven(Class<?> type) {
        Boolean known = woven.get(type);
        if (known == null) {
            known = methods.in(type).stream().map(AnnotatedMethod::method).anyMatch(WovenMethods::isWoven);
            woven.put(type, known);
        }
        return known;
    }
}
