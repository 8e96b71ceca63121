package io.github.virtualthread.aop;

import io.github.virtualthread.mistake.Mistake;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.IntroductionAdvisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Finds advice that a proxy applies to woven methods. It would run on the caller's thread, around a call that returns before
 * the body begins: a transaction would end without its work.
 */
final class DoubleAdviceCheck {

    private final AnnotatedMethods methods;

    DoubleAdviceCheck(AnnotatedMethods methods) {
        this.methods = methods;
    }

    /** The first such advice of each bean that exists. */
    List<Mistake> check(ConfigurableListableBeanFactory factory, Map<String, CreatedBeans.Created> created) {
        return created.entrySet().stream()
                .map(each -> check(
                        factory.getSingleton(each.getKey()), each.getValue().type()))
                .filter(mistake -> mistake != null)
                .toList();
    }

    /** The first such advice of a bean, which may be a proxy of a proxy. */
    @Nullable
    Mistake check(@Nullable Object bean, Class<?> type) {
        if (!(bean instanceof Advised advised)) {
            return null;
        }
        for (AnnotatedMethod method : methods.in(type)) {
            Advisor found = advisorOf(advised, method, type);
            if (found != null) {
                return mistake(method, found);
            }
        }
        return check(AopProxyUtils.getSingletonTarget(bean), type);
    }

    private static @Nullable Advisor advisorOf(Advised advised, AnnotatedMethod method, Class<?> type) {
        if (method.is(Modifier.PRIVATE | Modifier.STATIC | Modifier.FINAL)) {
            return null; // its calls bypass every proxy
        }
        return Arrays.stream(advised.getAdvisors())
                .filter(advisor -> applies(advisor, method, type))
                .findFirst()
                .orElse(null);
    }

    private static boolean applies(Advisor advisor, AnnotatedMethod method, Class<?> type) {
        if (advisor.equals(ExposeInvocationInterceptor.ADVISOR) || advisor instanceof IntroductionAdvisor) {
            return false;
        }
        return !(advisor instanceof PointcutAdvisor chosen)
                || (chosen.getPointcut().getClassFilter().matches(type)
                        && chosen.getPointcut().getMethodMatcher().matches(method.method(), type));
    }

    private static Mistake mistake(AnnotatedMethod method, Advisor advisor) {
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
}
