package io.github.virtualthread.aop;

import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.execution.CallExtensions;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.execution.TaskThreads;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.timer.TaskTimer;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.env.MapPropertySource;

/** A plain Spring context with the post-processor, an engine, and the limits {@code mail} and {@code report}. */
final class TestContext extends AnnotationConfigApplicationContext {

    static final String POST_PROCESSOR = "virtualThreadBeanPostProcessor";

    private TestContext(Map<String, Object> properties, MethodSettings settings) {
        getEnvironment().getPropertySources().addFirst(new MapPropertySource("test", properties));
        // by name: a look-up by type would create factories to ask them for theirs
        registerBean("timer", TaskTimer.class, () -> new TaskTimer("test-timer"));
        registerBean(
                "limits",
                TaskLimits.class,
                () -> new TaskLimits(
                        List.of(LimitSettings.of("mail", 1), LimitSettings.of("report", 2)),
                        getBean("timer", TaskTimer.class),
                        change -> {}));
        registerBean(
                "engine",
                TaskEngine.class,
                () -> new TaskEngine(
                        limits(),
                        ContextPropagation.none(),
                        getBean("timer", TaskTimer.class),
                        new TaskThreads("vt-", getClass().getClassLoader()),
                        new CallExtensions(
                                () -> containsBean("listener")
                                        ? List.of(getBean("listener", TaskListener.class))
                                        : List.of(),
                                List::of),
                        false));
        registerBean(
                "environmentOfCalls",
                CallEnvironment.class,
                () -> new CallEnvironment(
                        getBean("engine", TaskEngine.class),
                        settings,
                        new ApplicationUncaughtExceptionHandler(getBeanFactory())));
    }

    /** A context that has been refreshed. */
    static TestContext of(Class<?>... components) {
        return with(context -> {
            if (components.length > 0) {
                context.register(components);
            }
        });
    }

    static TestContext with(Consumer<TestContext> preparation) {
        return withSettings(Map.of(), MethodSettings.NONE, preparation);
    }

    static TestContext with(
            Map<String, Object> properties, @Nullable String defaultLimit, Consumer<TestContext> preparation) {
        return withSettings(properties, new MethodSettings(defaultLimit, null, Map.of()), preparation);
    }

    static TestContext withSettings(
            Map<String, Object> properties, MethodSettings settings, Consumer<TestContext> preparation) {
        TestContext context = new TestContext(properties, settings);
        try {
            context.withPostProcessor(Map.of("proxyTargetClass", true));
            preparation.accept(context);
            context.refresh();
            return context;
        } catch (RuntimeException failure) {
            context.close();
            throw failure;
        }
    }

    /** Replaces the post-processor by one with other settings. */
    void withPostProcessor(Map<String, ?> settings) {
        registerBean(POST_PROCESSOR, VirtualThreadBeanPostProcessor.class, definition -> {
            definition.setRole(BeanDefinition.ROLE_INFRASTRUCTURE);
            settings.forEach(definition.getPropertyValues()::add);
        });
    }

    void withInterfaceProxies() {
        withPostProcessor(Map.of("proxyTargetClass", false));
    }

    Findings check() {
        return check(null);
    }

    Findings check(@Nullable String defaultLimit) {
        return getBean(POST_PROCESSOR, VirtualThreadBeanPostProcessor.class)
                .check(this::limits, new MethodSettings(defaultLimit, null, Map.of()));
    }

    TaskLimits limits() {
        return getBean("limits", TaskLimits.class);
    }

    /** The mistakes of a context that consists of these components. */
    static List<Mistake> mistakesOf(Class<?>... components) {
        try (TestContext context = of(components)) {
            return context.check().mistakes();
        }
    }
}
