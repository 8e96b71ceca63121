package io.github.virtualthread.aop;

import java.lang.reflect.Method;
import org.springframework.aop.ClassFilter;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;

/** Advises every annotated method that can run as its annotation says. */
final class VirtualThreadAdvisor extends StaticMethodMatcherPointcutAdvisor implements ClassFilter {

    private final transient AnnotatedMethods methods;

    VirtualThreadAdvisor(AnnotatedMethods methods, VirtualThreadInterceptor interceptor) {
        super(interceptor);
        this.methods = methods;
        setClassFilter(this);
    }

    @Override
    public boolean matches(Class<?> type) {
        return methods.areIn(type);
    }

    @Override
    public boolean matches(Method method, Class<?> targetClass) {
        AnnotatedMethod annotated = methods.find(method, targetClass);
        return annotated != null && annotated.isAdvisable();
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

    /** Spring uses this text to share generated classes between contexts. */
    @Override
    public String toString() {
        return VirtualThreadAdvisor.class.getName() + ": " + methods.annotationType();
    }
}
