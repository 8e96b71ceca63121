package io.github.virtualthread.aop;

import io.github.virtualthread.aop.CreatedBeans.Created;
import io.github.virtualthread.aop.VirtualThreadInterceptor.Resolution;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.IntroductionAdvisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.InstantiationAwareBeanPostProcessor;

/**
 * Connects one application context with woven code. In mode PROXY it lets woven methods run in place, because they must not
 * change threads twice.
 *
 * <p>Exists only with AspectJ on the classpath, because woven code needs it to run.
 */
final class ContextWeaving implements InstantiationAwareBeanPostProcessor {

    private final AnnotatedMethods methods;
    private final boolean wanted; // whether the aspect runs annotated methods
    private final WovenContext context;
    private final Map<Class<?>, Boolean> woven = new ConcurrentHashMap<>();
    private volatile @Nullable MethodChecks checks;

    /**
     * Creates the weaving of one context.
     *
     * @param interceptors makes the interceptor that runs annotated methods; null if the aspect does not run them
     */
    ContextWeaving(AnnotatedMethods methods, @Nullable Function<Resolution, VirtualThreadInterceptor> interceptors) {
        this.methods = methods;
        this.wanted = interceptors != null;
        this.context = new WovenContext(interceptors == null ? null : interceptors.apply(this::resolve));
    }

    /** From now on it sees every bean, also those that are created too early for other post-processors. */
    void join(ConfigurableListableBeanFactory factory) {
        factory.addBeanPostProcessor(this);
        if (!wanted) {
            WovenCalls.SHARED.addInPlace(context);
        }
    }

    @Override
    public boolean postProcessAfterInstantiation(Object bean, String beanName) {
        made(bean);
        return true;
    }

    /** The product of a factory bean is seen here for the first time. */
    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        made(bean);
        return bean;
    }

    private void made(Object bean) {
        Class<?> type = bean.getClass();
        if (methods.areIn(type) && (wanted || isWoven(type))) {
            WovenCalls.SHARED.made(bean, context);
        }
    }

    /** To be called when all singletons are ready. */
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

    /**
     * The mistakes of all beans that have been created.
     *
     * @param checks checks the methods of objects that are not beans when they are called
     */
    List<Mistake> check(ConfigurableListableBeanFactory factory, Map<String, Created> created, MethodChecks checks) {
        this.checks = checks;
        return created.entrySet().stream()
                .map(each -> check(
                        factory.getSingleton(each.getKey()), each.getValue().type()))
                .filter(mistake -> mistake != null)
                .toList();
    }

    /**
     * The mistake of one bean, which may be a proxy of a proxy, null if there is none. Advice that a proxy applies to woven
     * methods would run on the caller's thread, around a call that returns before the body begins: a transaction would end
     * without its work.
     */
    @Nullable
    Mistake check(@Nullable Object bean, Class<?> type) {
        if (!wanted || !(bean instanceof Advised advised)) {
            return null;
        }
        for (AnnotatedMethod method : methods.in(type)) {
            for (Advisor advisor : advised.getAdvisors()) {
                if (applies(advisor, method, type)) {
                    return advisedTwice(method, advisor);
                }
            }
        }
        return check(AopProxyUtils.getSingletonTarget(bean), type);
    }

    private static boolean applies(Advisor advisor, AnnotatedMethod method, Class<?> type) {
        if (method.is(Modifier.PRIVATE | Modifier.STATIC | Modifier.FINAL) // its calls bypass every proxy
                || advisor.equals(ExposeInvocationInterceptor.ADVISOR)
                || advisor instanceof IntroductionAdvisor) {
            return false;
        }
        return !(advisor instanceof PointcutAdvisor chosen)
                || (chosen.getPointcut().getClassFilter().matches(type)
                        && chosen.getPointcut().getMethodMatcher().matches(method.method(), type));
    }

    private static Mistake advisedTwice(AnnotatedMethod method, Advisor advisor) {
        return new Mistake(
                "%s with %s is woven, but the proxy of its bean advises it too (%s): that advice would run on the caller's thread,"
                                .formatted(
                                        method.qualifiedName(),
                                        method.annotation(),
                                        advisor.getAdvice().getClass().getSimpleName())
                        + " around a call that returns before the body begins",
                "Weave that advice too, as @EnableTransactionManagement(mode = AdviceMode.ASPECTJ) does with spring-aspects, or"
                        + " let the method call another bean that has that advice.");
    }

    private @Nullable AnnotatedMethod resolve(Method method, Class<?> targetClass) {
        MethodChecks checking = checks;
        if (checking != null && methods.find(method, targetClass) != null) {
            List<Mistake> mistakes =
                    checking.check(new Created(targetClass, true)).mistakes();
            if (!mistakes.isEmpty()) {
                throw new VirtualThreadConfigurationException(mistakes);
            }
        }
        return WovenContext.resolve(methods, method, targetClass);
    }

    private boolean isWoven(Class<?> type) {
        return woven.computeIfAbsent(
                type,
                each -> methods.in(each).stream().map(AnnotatedMethod::method).anyMatch(AspectJRuntime::isWoven));
    }
}
