package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.Internal;
import io.github.virtualthread.autoconfigure.async.AsyncSettings;
import io.github.virtualthread.autoconfigure.async.LimitedExecutors;
import io.github.virtualthread.autoconfigure.properties.SettingsFactory;
import io.github.virtualthread.autoconfigure.properties.VirtualThreadProperties;
import io.github.virtualthread.config.BeanNames;
import io.github.virtualthread.config.StartupPart;
import io.github.virtualthread.execution.ExecutorView;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.web.WebFluxRejections;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.web.reactive.HandlerResultHandler;
import org.springframework.web.reactive.config.BlockingExecutionConfigurer;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerAdapter;
import org.springframework.web.server.WebExceptionHandler;

/** Auto-configuration for WebFlux: answers to requests whose call was rejected or has timed out. */
@Internal
@AutoConfiguration(after = VirtualThreadAutoConfiguration.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@ConditionalOnClass(name = "org.springframework.web.reactive.DispatchExceptionHandler")
@ConditionalOnBean(name = BeanNames.ENGINE)
@EnableConfigurationProperties(VirtualThreadProperties.class)
public class VirtualThreadWebFluxAutoConfiguration {

    /** Spring Boot's own handler has order -1 and answers everything. */
    private static final int BEFORE_SPRING_BOOT = -2;

    /** Created by Spring. */
    public VirtualThreadWebFluxAutoConfiguration() {}

    @Bean
    WebFluxRejections virtualThreadRejections(
            ObjectProvider<VirtualThreadProperties> properties,
            @Qualifier("errorWebExceptionHandler") ObjectProvider<WebExceptionHandler> errors,
            ObjectProvider<org.springframework.web.reactive.result.method.annotation.ResponseEntityExceptionHandler>
                    problemDetails,
            ObjectProvider<RequestMappingHandlerAdapter> adapter,
            ObjectProvider<HandlerResultHandler> resultHandlers) {
        return new WebFluxRejections(
                () -> SettingsFactory.answers(properties.getObject().web()),
                isSpringBoots(errors.getIfAvailable()) ? BEFORE_SPRING_BOOT : Ordered.LOWEST_PRECEDENCE,
                () -> problemDetails.stream().findAny().isPresent() ? adapter.getIfAvailable() : null,
                resultHandlers::orderedStream);
    }

    /** An application that handles errors itself replaces Spring Boot's handler; then ours comes last. */
    private static boolean isSpringBoots(@Nullable WebExceptionHandler handler) {
        return handler != null && handler.getClass().getName().startsWith("org.springframework.boot.");
    }

    /**
     * After Spring Boot's, which does so with {@code spring.threads.virtual.enabled} only, and before those of the application. WebFlux
     * hands each handler over twice, to resolve its arguments and to call it: both in one task, unless a body comes in between.
     */
    @Bean
    @Order(1)
    @Conditional(AsyncSettings.AreSet.class)
    WebFluxConfigurer virtualThreadBlockingHandlers(
            @Qualifier(AsyncSettings.APPLICATION) ObjectProvider<AsyncTaskExecutor> executor) {
        ThreadLocal<Boolean> inTask = new ThreadLocal<>();
        return new WebFluxConfigurer() {
            @Override
            public void configureBlockingExecution(BlockingExecutionConfigurer blocking) {
                ExecutorView limited = LimitedExecutors.view(executor.getIfAvailable());
                if (limited != null) {
                    blocking.setExecutor(handler -> {
                        if (inTask.get() != null) {
                            handler.run();
                        } else {
                            limited.execute(() -> {
                                inTask.set(true); // each task has a thread of its own
                                handler.run();
                            });
                        }
                    });
                }
            }
        };
    }

    /** WebFlux has no filter as at the door: its permits would be back before the work of a cancelled request has ended. */
    @Bean(BeanNames.DOOR_SETTINGS)
    @Conditional(OnDoor.class)
    StartupPart virtualThreadDoorSettings(Environment environment) {
        Mistake reactive = new Mistake(
                "virtual-thread.web.limit, virtual-thread.web.deadline and virtual-thread.web.deadline-header need a servlet"
                        + " application, but this one is reactive",
                "Remove them. Limit the methods that the handlers call, by @VirtualThread, and give requests a deadline in a WebFilter.");
        Mistake abandoned = new Mistake(
                "virtual-thread.web.cancel-abandoned needs a servlet application, but this one is reactive",
                "Remove it. Spring cancels the future that a handler returns when its client has gone, which interrupts the call.");
        return limits -> {
            List<Mistake> mistakes = new ArrayList<>();
            if (OnDoor.isBounded(environment)) {
                mistakes.add(reactive);
            }
            if (OnDoor.cancelsAbandoned(environment)) {
                mistakes.add(abandoned);
            }
            return OnDoor.isOn(environment) ? mistakes : List.of();
        };
    }
}
