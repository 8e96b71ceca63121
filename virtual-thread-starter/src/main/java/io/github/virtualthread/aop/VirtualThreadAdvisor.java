package io.github.virtualthread.aop;

import java.lang.reflect.Method;
import org.springframework.aop.ClassFilter;
import org.springframework.aop.MethodMatcher;
import org.springframework.aop.Pointcut;
import org.springframework.aop.support.AbstractPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcher;

/** Advises every annotated method that can run as its annotation says. */
@SuppressWarnings("serial")
final class VirtualThreadAdvisor extends AbstractPointcutAdvisor {

    private final transient AnnotatedPointcut pointcut;
    private final transient VirtualThreadInterceptor interceptor;

    VirtualThreadAdvisor(AnnotatedMethods methods, VirtualThreadInterceptor interceptor) {
        this.pointcut = new AnnotatedPointcut(methods);
        this.interceptor = interceptor;
    }

    @Override
    public Pointcut getPointcut() {
        return pointcut;
    }

    @Override
    public VirtualThreadInterceptor getAdvice() {
        return interceptor;
    }

    private static final class AnnotatedPointcut extends StaticMethodMatcher implements Pointcut, ClassFilter {

        private final AnnotatedMethods methods;

        AnnotatedPointcut(AnnotatedMethods methods) {
            this.methods = methods;
        }

        @Override
        public boolean matches(Class<?> type) {
            return !methods.in(type).isEmpty();
        }

        @Override
        public boolean matches(Method method, Class<?> targetClass) {
            AnnotatedMethod annotated = methods.find(method, targetClass);
            return annotated != null && annotated.isAdvisable();
        }

        @Override
        public ClassFilter getClassFilter() {
            return this;
        }

        @Override
        public MethodMatcher getMethodMatcher() {
            return this;
        }

        /** Spring shares generated classes between contexts by this text. */
        @Override
        public String toString() {
            return AnnotatedPointcut.class.getName() + ": " + methods.annotationType();
        }
    }
}
