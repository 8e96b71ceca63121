package io.github.virtualthread.aop;

import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;

/**
 * Registers what a native image needs to find and call annotated methods by reflection: the methods of a bean's class, of
 * its superclasses and of its interfaces, the chosen annotation, and what keys read. Spring itself registers the methods of the class only.
 * Spring's own interfaces are included, because they decide which methods an annotation on a class covers.
 */
final class AnnotatedMethodHints implements BeanRegistrationAotProcessor {

    @Override
    public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
        VirtualThreadBeanPostProcessor postProcessor = bean.getBeanFactory()
                .getBeanProvider(VirtualThreadBeanPostProcessor.class)
                .getIfUnique();
        if (postProcessor == null) {
            return null;
        }
        AnnotatedMethods methods = postProcessor.methods();
        Set<Class<?>> kept = new LinkedHashSet<>();
        if (bean.getBeanClass() == VirtualThreadBeanPostProcessor.class) {
            // its definition refers to the annotation by name
            kept.add(methods.annotationType());
        }
        Set<KeyExpression> keys = new LinkedHashSet<>();
        for (Class<?> type : typesOf(bean)) {
            for (AnnotatedMethod method : methods.in(type)) {
                kept.addAll(TypeHierarchy.of(type));
                addKey(keys, method, bean);
            }
        }
        if (kept.isEmpty()) {
            return null;
        }
        return (generation, code) -> {
            ReflectionHints hints = generation.getRuntimeHints().reflection();
            for (Class<?> type : kept) {
                if ((type.isInterface() || !TypeHierarchy.isOfSpring(type))
                        && !type.getName().startsWith("java.")) {
                    hints.registerType(type, MemberCategory.INVOKE_DECLARED_METHODS);
                }
            }
            keys.forEach(each -> each.registerHints(hints));
        };
    }

    /** Mistakes are reported at the start, under the properties of that start. */
    private static void addKey(Set<KeyExpression> keys, AnnotatedMethod method, RegisteredBean bean) {
        try {
            CallSettings settings = new CallSettings(bean.getBeanFactory()::resolveEmbeddedValue, MethodSettings.NONE);
            String key = settings.key(method);
            if (key != null) {
                keys.add(KeyExpression.of(key, method));
            }
        } catch (IllegalArgumentException | VirtualThreadConfigurationException wrong) {
            // the start says so
        }
    }

    /** The product of a factory counts too, such as a repository. An inner bean cannot be looked up by name. */
    private static Set<Class<?>> typesOf(RegisteredBean bean) {
        Set<Class<?>> types = new LinkedHashSet<>(Set.of(TypeHierarchy.userClass(bean.getBeanClass())));
        Class<?> product = bean.isInnerBean() ? null : bean.getBeanFactory().getType(bean.getBeanName(), false);
        if (product != null) {
            types.add(TypeHierarchy.userClass(product));
        }
        return types;
    }
}
