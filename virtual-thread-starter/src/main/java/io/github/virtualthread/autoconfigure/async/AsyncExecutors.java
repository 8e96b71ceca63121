package io.github.virtualthread.autoconfigure.async;

import io.github.virtualthread.Internal;
import io.github.virtualthread.config.BeanNames;
import io.github.virtualthread.execution.ExecutorView;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.Spelling;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AbstractAdvisingBeanPostProcessor;
import org.springframework.aop.interceptor.AsyncExecutionAspectSupport;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.annotation.RegisterReflection;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.SimpleAliasRegistry;
import org.springframework.core.env.Environment;
import org.springframework.core.task.TaskDecorator;

/**
 * Puts the executors that properties name under limits, and by {@link AsyncMethods} the calls of {@code @Async} methods. A bean keeps its
 * definition, and so its name and its qualifiers; what others get in place of the object is of the same class and runs its tasks under the
 * limit. Comes before other post-processors, which see that object only.
 */
@RegisterReflection(
        classes = {AbstractAdvisingBeanPostProcessor.class, AsyncExecutionAspectSupport.class},
        memberCategories = MemberCategory.DECLARED_FIELDS)
@Internal
public final class AsyncExecutors implements BeanPostProcessor, PriorityOrdered, BeanFactoryAware {

    private final Map<String, Asked> asked = new LinkedHashMap<>();
    private final List<Mistake> mistakes = new ArrayList<>();
    private final Map<String, String> refused = new ConcurrentHashMap<>();
    private final Map<String, Executor> replaced = new ConcurrentHashMap<>();
    private volatile boolean checked;
    private @Nullable AsyncSettings settings;
    private @Nullable AsyncMethods methods;
    private @Nullable ConfigurableListableBeanFactory factory;

    /** Created by Spring. */
    public AsyncExecutors() {}

    @Override
    public void setBeanFactory(BeanFactory beanFactory) {
        factory = (ConfigurableListableBeanFactory) beanFactory;
        settings = AsyncSettings.of(
                beanFactory.getBean(ConfigurableApplicationContext.ENVIRONMENT_BEAN_NAME, Environment.class));
        methods = new AsyncMethods(beanFactory, settings);
        settings.executors().forEach(this::ask);
    }

    private ConfigurableListableBeanFactory beans() {
        return Objects.requireNonNull(factory);
    }

    AsyncSettings settings() {
        return Objects.requireNonNull(settings);
    }

    AsyncMethods methods() {
        return Objects.requireNonNull(methods);
    }

    /** An alias means its bean, and a bean of a scope is what its proxy stands for, where others may not replace that. */
    private void ask(String name, String limit) {
        String bean = beans() instanceof SimpleAliasRegistry aliases ? aliases.canonicalName(name) : name;
        String ofScope = ScopedProxyUtils.getTargetBeanName(bean);
        if (beans().containsBeanDefinition(ofScope)
                && beans().getMergedBeanDefinition(bean) instanceof AbstractBeanDefinition proxy
                && proxy.isSynthetic()) {
            bean = ofScope;
        }
        Asked by = new Asked(name, limit);
        Asked before = asked.putIfAbsent(bean, by);
        if (before != null && !LimitNames.areEqual(before.limit, by.limit)) {
            mistakes.add(new Mistake(
                    "%s asks for limit '%s', and %s for limit '%s', but both are about the bean '%s'"
                            .formatted(before.key(), before.limit, by.key(), by.limit, bean),
                    "Remove one of them."));
        }
    }

    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
        Asked by = asked.get(name);
        if (by == null || !settings().enabled() || bean instanceof FactoryBean) {
            return methods().inPlaceOf(bean, name);
        }
        String reason = LimitedExecutors.whyNot(bean);
        if (reason == null) {
            Executor theirs = (Executor) bean;
            VirtualThreads threads = beans().getBean(BeanNames.BY_HAND, VirtualThreads.class);
            Object ours = LimitedExecutors.inPlaceOf(
                    by.name, theirs, ExecutorView.of(threads, by.name, by.limit), beans().getBeanClassLoader());
            Class<?> declared = declaredType(name);
            if (declared == null || declared.isInstance(ours)) {
                replaced.putIfAbsent(name, theirs);
                return ours;
            }
            reason = "is declared as %s, of which there can be no proxy under a limit: declare it as Executor"
                    .formatted(declared.getName());
        }
        refused.put(name, reason);
        if (checked) {
            throw new VirtualThreadConfigurationException(mistakes());
        }
        return bean;
    }

    /** How a bean is declared, null if by no definition. While it is created, its factory knows it by the class of the object. */
    @Nullable
    Class<?> declaredType(String name) {
        if (!beans().containsBeanDefinition(name) || beans().isFactoryBean(name)) {
            return null;
        }
        return beans().getMergedBeanDefinition(name).getResolvableType().resolve();
    }

    /** What is wrong with the beans that are asked for. Those that are created from now on are checked at once. */
    List<Mistake> check() {
        for (String bean : asked.keySet()) {
            if (beans().containsBean(bean) && beans().isFactoryBean(bean) && beans().containsSingleton(bean)) {
                beans().getBean(bean); // what a factory makes is not there before somebody asks for it
            }
        }
        checked = true;
        return mistakes();
    }

    private List<Mistake> mistakes() {
        List<Mistake> found = new ArrayList<>(mistakes);
        asked.forEach((bean, by) -> check(bean, by, found));
        return found;
    }

    private void check(String bean, Asked by, List<Mistake> found) {
        String reason = refused.get(bean);
        if (!beans().containsBean(bean)) {
            found.add(unknown(bean, by));
        } else if (reason != null) {
            found.add(new Mistake(
                    "%s: the bean '%s' %s".formatted(by.key(), bean, reason),
                    "Name another bean, or remove the entry."));
        } else if (settings().enabled() && !beans().containsLocalBean(bean)) {
            if (LimitedExecutors.view(beans().getBean(bean, Executor.class)) == null) {
                found.add(new Mistake(
                        "%s: the bean '%s' belongs to a parent context".formatted(by.key(), bean),
                        "Set the property in that context."));
            }
        } else if (settings().enabled() && beans().containsSingleton(bean) && !replaced.containsKey(bean)) {
            found.add(new Mistake(
                    "%s: the bean '%s' was there before it could be put under a limit".formatted(by.key(), bean),
                    "Declare it by a @Bean method that no post-processor needs, or remove the entry. In a test with a mock, set"
                            + " virtual-thread.enabled to false."));
        }
    }

    private Mistake unknown(String bean, Asked by) {
        List<String> executors = new ArrayList<>();
        for (String name : beans().getBeanNamesForType(Executor.class, true, false)) {
            executors.add(name);
            executors.addAll(List.of(beans().getAliases(name)));
        }
        String why = "";
        if (bean.equals(AsyncSettings.APPLICATION)) {
            why = ", as Spring Boot makes none beside other executors, unless spring.task.execution.mode is force";
        }
        return new Mistake(
                "%s: there is no bean '%s'%s".formatted(by.key(), bean, why),
                Spelling.meant(bean, executors, "Executors are %s. Names of beans are exact.".formatted(executors)));
    }

    /** What the executors did and do no longer. */
    List<String> losses() {
        List<String> losses = new ArrayList<>();
        replaced.forEach((name, theirs) ->
                losses.addAll(LimitedExecutors.losses(name, theirs, beans().getBeanProvider(TaskDecorator.class))));
        return losses;
    }

    /**
     * What is asked for a bean.
     *
     * @param name its name as it is written, which its threads have
     * @param limit name of the limit under which its tasks run
     */
    private record Asked(String name, String limit) {

        /** The property that asks for it. */
        String key() {
            return AsyncSettings.EXECUTORS + name;
        }
    }
}
