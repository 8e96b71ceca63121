package io.github.virtualthread.aop;

import io.github.virtualthread.aop.CreatedBeans.Created;
import io.github.virtualthread.aop.Findings.AdvisedMethod;
import io.github.virtualthread.aop.MethodChecks.Checked;
import io.github.virtualthread.aop.MethodSettings.MethodOverride;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.PropertyKeys;
import io.github.virtualthread.mistake.Spelling;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.util.ClassUtils;

/**
 * Finds all mistakes in a bean factory. It checks the types of the bean definitions, without creating beans, and the classes
 * of the beans that exist already.
 */
final class BeanChecks {

    private static final Logger logger = LoggerFactory.getLogger(BeanChecks.class);

    private final ConfigurableListableBeanFactory factory;
    private final AnnotatedMethods methods;
    private final MethodChecks checks;
    private final BiPredicate<String, Class<?>> classProxy;
    private final Set<Mistake> mistakes = new LinkedHashSet<>();
    private final Set<AdvisedMethod> calls = new LinkedHashSet<>();
    private final Map<Class<?>, Created> seen = new LinkedHashMap<>();

    /**
     * Creates the checks of one factory.
     *
     * @param classProxy whether a bean of that name and class gets, or would get, a subclass as its proxy
     */
    BeanChecks(
            ConfigurableListableBeanFactory factory,
            AnnotatedMethods methods,
            MethodChecks checks,
            BiPredicate<String, Class<?>> classProxy) {
        this.factory = factory;
        this.methods = methods;
        this.checks = checks;
        this.classProxy = classProxy;
    }

    /**
     * Checks all definitions and all created beans.
     *
     * @param beans the beans that have been created so far
     * @param overrides what replaces attributes of annotations, by method
     * @param advising whether annotated methods are advised at all
     */
    Findings check(CreatedBeans beans, Map<String, MethodOverride> overrides, boolean advising) {
        Map<String, Created> created = beans.created();
        for (String name : factory.getBeanDefinitionNames()) {
            checkDefinition(name, created.remove(name));
            if (isFactory(name)) {
                String factoryName = BeanFactory.FACTORY_BEAN_PREFIX + name;
                checkDefinition(factoryName, created.remove(factoryName));
            }
        }
        created.values().forEach(this::check);
        beans.failures.forEach((bean, failure) -> mistakes.addAll(checks.mistakes(bean, failure)));
        checkOverrides(overrides);
        if (advising) {
            beans.unseen.forEach((name, type) -> mistakes.add(tooEarly(name, type)));
        }
        return new Findings(
                List.copyOf(mistakes), List.copyOf(calls), advising && !seen.isEmpty() ? selfInvocations() : List.of());
    }

    private void checkDefinition(String name, @Nullable Created created) {
        if (created != null) {
            check(created);
            return;
        }
        Class<?> type = typeOf(name);
        if (type != null && methods.areIn(type)) {
            check(new Created(type, classProxy.test(name, type)));
        }
    }

    private void check(Created bean) {
        Checked checked = checks.check(bean);
        mistakes.addAll(checked.mistakes());
        calls.addAll(checked.advised().values());
        if (seen.putIfAbsent(bean.type(), bean) == null) {
            methods.in(bean.type()).forEach(MethodWarnings::log);
        }
    }

    /** What replaces attributes of annotations must match annotated methods. */
    private void checkOverrides(Map<String, MethodOverride> overrides) {
        List<AnnotatedMethod> annotated = seen.keySet().stream()
                .flatMap(type -> methods.in(type).stream())
                .toList();
        new TreeMap<>(overrides).forEach((name, override) -> {
            List<AnnotatedMethod> meant = annotated.stream()
                    .filter(method -> method.qualifiedName().equals(name))
                    .toList();
            if (meant.isEmpty() && !isElsewhere(name)) {
                mistakes.add(unknown(name, annotated));
            } else if (override.timeout() != null
                    && !meant.isEmpty()
                    && meant.stream().allMatch(AnnotatedMethod::isLimited)) {
                mistakes.add(new Mistake(
                        "%s.timeout is set, but a method with @Limited has no timeout"
                                .formatted(PropertyKeys.method(name)),
                        "Remove the key, or use @VirtualThread."));
            }
        });
    }

    /** The bean may be in another context, belong to another profile, or be created later. */
    private boolean isElsewhere(String name) {
        String className = name.substring(0, Math.max(0, name.lastIndexOf('.')));
        Class<?> type;
        try {
            type = ClassUtils.forName(className, factory.getBeanClassLoader());
        } catch (ClassNotFoundException | LinkageError missing) {
            return false;
        }
        return seen.keySet().stream().noneMatch(type::isAssignableFrom)
                && methods.in(type).stream()
                        .anyMatch(method -> method.qualifiedName().equals(name));
    }

    private static Mistake unknown(String name, List<AnnotatedMethod> annotated) {
        List<String> names =
                annotated.stream().map(AnnotatedMethod::qualifiedName).toList();
        return new Mistake(
                "%s matches no annotated method".formatted(PropertyKeys.method(name)),
                Spelling.meant(
                        name,
                        names,
                        "Write the class and the method of a bean, as in \"[com.acme.Mailer.send]\", or remove the key."));
    }

    private List<Mistake> selfInvocations() {
        SelfInvocations invocations = new SelfInvocations();
        Set<Mistake> found = new LinkedHashSet<>();
        for (Created bean : seen.values()) {
            Set<AnnotatedMethod> advised = checks.check(bean).advised().keySet();
            found.addAll(invocations.in(bean.type(), bean.classProxy(), advised));
        }
        return List.copyOf(found);
    }

    private boolean isFactory(String name) {
        try {
            return factory.isFactoryBean(name);
        } catch (BeansException | LinkageError failure) {
            return false; // its own type cannot be found either, which is logged
        }
    }

    private @Nullable Class<?> typeOf(String name) {
        try {
            BeanDefinition definition = factory.getMergedBeanDefinition(BeanFactoryUtils.transformedBeanName(name));
            // a scoped proxy stands for another definition, which is checked itself
            boolean isStandIn = definition instanceof RootBeanDefinition root && root.getDecoratedDefinition() != null;
            if (definition.isAbstract() || isStandIn) {
                return null;
            }
            Object target = definition.getAttribute(AutoProxyUtils.ORIGINAL_TARGET_CLASS_ATTRIBUTE);
            return target instanceof Class<?> known ? known : factory.getType(name, false);
        } catch (BeansException | LinkageError failure) {
            logger.debug(
                    "The type of bean '{}' is not known; its methods are checked when it is created", name, failure);
            return null;
        }
    }

    private Mistake tooEarly(String name, Class<?> type) {
        return new Mistake(
                "Bean '%s' of %s has methods with %s, but was created too early to be advised, because a post-processor needs it"
                        .formatted(name, type.getName(), methods.annotations(type)),
                "Let that post-processor look up the bean when it uses it (ObjectProvider or @Lazy), and declare "
                        + "post-processors in static @Bean methods.");
    }
}
