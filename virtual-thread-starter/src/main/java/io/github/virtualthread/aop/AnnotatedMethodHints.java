package io.github.virtualthread.aop;

import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
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
        typesOf(bean).map(TypeHierarchy::userClass).forEach(type -> {
            List<AnnotatedMethod> annotated = methods.in(type);
            if (!annotated.isEmpty()) {
                kept.addAll(TypeHierarchy.of(type));
                annotated.forEach(each -> keys.addAll(key(each, bean)));
            }
        });
        return kept.isEmpty()
                ? null
                : (generation, code) -> {
                    ReflectionHints hints = generation.getRuntimeHints().reflection();
                    kept.stream()
                            .filter(type -> type.isInterface() || !TypeHierarchy.isOfSpring(type))
                            .filter(type -> !type.getName().startsWith("java."))
                            .forEach(type -> hints.registerType(type, MemberCategory.INVOKE_DECLARED_METHODS));
                    keys.forEach(each -> each.registerHints(hints));
                };
    }

    /** Mistakes are reported at the start, under the properties of that start. */
    private static List<KeyExpression> key(AnnotatedMethod method, RegisteredBean bean) {
        try {
            CallSettings settings = new CallSettings(bean.getBeanFactory()::resolveEmbeddedValue, MethodSettings.NONE);
            String key = settings.key(method);
            return key == null ? List.of() : List.of(KeyExpression.of(key, method));
        } catch (IllegalArgumentException | VirtualThreadConfigurationException wrong) {
            return List.of();
        }
    }

    /** The product of a factory counts too, such as a repository. An inner bean cannot be looked up by name. */
    private static Stream<Class<?>> typesOf(RegisteredBean bean) {
        return bean.isInnerBean()
                ? Stream.of(bean.getBeanClass())
                : Stream.of(bean.getBeanClass(), bean.getBeanFactory().getType(bean.getBeanName(), false))
                        .filter(Objects::nonNull);
    }
}
