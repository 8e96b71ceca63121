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

    /** The annotated method that a call runs. An annotation must apply, because the advisor has chosen the call. */
    static AnnotatedMethod resolve(AnnotatedMethods methods, Method method, Class<?> targetClass) {
        AnnotatedMethod annotated = methods.find(method, targetClass);
        if (annotated == null) {
            // the target is of another class than its target source says
            annotated = methods.find(method, method.getDeclaringClass());
        }
        if (annotated == null) {
            throw new IllegalStateException("%s.%s is advised, but no annotation applies to it on an object of %s"
                    .formatted(method.getDeclaringClass().getName(), method.getName(), targetClass.getName()));
        }
        return annotated;
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

        /** Spring uses this text to share generated classes between contexts. */
        @Override
        public String toString() {
            return AnnotatedPointcut.class.getName() + ": " + methods.annotationType();
        }
    }
}
