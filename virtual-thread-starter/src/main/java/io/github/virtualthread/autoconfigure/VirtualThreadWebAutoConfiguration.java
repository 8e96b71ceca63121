package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.config.FurtherCheck;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.web.RejectionAnswer;
import io.github.virtualthread.web.RequestKey;
import io.github.virtualthread.web.WebFluxRejections;
import io.github.virtualthread.web.WebLimitFilter;
import io.github.virtualthread.web.WebMvcRejections;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletRequest;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.web.reactive.HandlerResultHandler;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerAdapter;
import org.springframework.web.server.WebExceptionHandler;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.handler.HandlerExceptionResolverComposite;
import org.springframework.web.servlet.mvc.method.annotation.ExceptionHandlerExceptionResolver;

/** Auto-configuration for the limit at the door, and for answers to web requests whose call was rejected or has timed out. */
@AutoConfiguration(
        after = VirtualThreadAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration",
            "org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration"
        })
@ConditionalOnWebApplication
public class VirtualThreadWebAutoConfiguration {

    /** Created by Spring. */
    public VirtualThreadWebAutoConfiguration() {}

    /**
     * For Spring MVC, if Spring's own resolvers are beans. A servlet without any resolver bean uses its defaults, and a bean
     * of ours would replace them.
     */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    @ConditionalOnClass(name = "org.springframework.web.servlet.HandlerExceptionResolver")
    @ConditionalOnBean(name = {VirtualThreadAutoConfiguration.ENGINE, WebMvcConfiguration.RESOLVERS})
    @EnableConfigurationProperties(VirtualThreadProperties.class)
    static class WebMvcConfiguration {

        static final String RESOLVERS = "handlerExceptionResolver";

        /** Has no order: an application's own resolver without an order is registered earlier and comes first. */
        @Bean
        WebMvcRejections virtualThreadRejections(
                VirtualThreadProperties properties,
                ObjectProvider<org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler>
                        problemDetails,
                @Qualifier(RESOLVERS) HandlerExceptionResolver resolvers) {
            boolean on = problemDetails.stream().findAny().isPresent();
            return new WebMvcRejections(SettingsFactory.answers(properties.web()), on ? advice(resolvers) : null);
        }

        /** Without the resolvers behind it, which log each answer and have the error page render it. */
        private static @Nullable HandlerExceptionResolver advice(HandlerExceptionResolver resolvers) {
            return resolvers instanceof HandlerExceptionResolverComposite composite
                    ? composite.getExceptionResolvers().stream()
                            .filter(ExceptionHandlerExceptionResolver.class::isInstance)
                            .findFirst()
                            .orElse(null)
                    : null;
        }
    }

    /** The limit at the door of a servlet application. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    @ConditionalOnBean(name = VirtualThreadAutoConfiguration.ENGINE)
    @Conditional(OnDoor.class)
    @EnableConfigurationProperties(VirtualThreadProperties.class)
    static class ServletDoorConfiguration {

        @Bean
        DoorSettings virtualThreadDoorSettings(VirtualThreadProperties properties, Environment environment) {
            return new DoorSettings(
                    properties.web(), environment.getProperty("spring.threads.virtual.enabled", Boolean.class, false));
        }

        /** Servers create filters before other beans, so this one looks up the engine when the first request comes. */
        @Bean
        @ConditionalOnMissingBean(value = WebLimitFilter.class, parameterizedContainer = FilterRegistrationBean.class)
        FilterRegistrationBean<WebLimitFilter> virtualThreadWebLimitFilter(
                VirtualThreadProperties properties,
                DoorSettings virtualThreadDoorSettings,
                ObjectProvider<TaskEngine> engine,
                ObjectProvider<RequestKey> requestKey,
                ObjectProvider<ManagementPaths> managementPaths,
                Environment environment) {
            DoorSettings settings = virtualThreadDoorSettings;
            WebLimitFilter filter = new WebLimitFilter(engine::getObject, settings.limit(), settings.deadline());
            RejectionAnswer answer = SettingsFactory.rejectionAnswer(properties.web());
            if (answer.status() != 0) {
                filter.setRejectedStatus(answer.status());
            }
            filter.setRetryAfter(answer.retryAfter());
            RequestKey own = requestKey.getIfAvailable();
            filter.setRequestKey(own == null && properties.web().key() != null ? ServletRequest::getRemoteAddr : own);
            ManagementPaths management = managementPaths.getIfAvailable();
            filter.setExclude(management == null ? settings.exclude() : management.or(settings.exclude()));
            FilterRegistrationBean<WebLimitFilter> registration = new FilterRegistrationBean<>(filter);
            registration.setEnabled(OnDoor.isOn(environment));
            registration.setOrder(properties.web().order());
            registration.setDispatcherTypes(DispatcherType.REQUEST, DispatcherType.ASYNC);
            return registration;
        }

        /** Actuator on the port of the application. */
        @Bean
        @ConditionalOnClass(name = "org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints")
        ManagementPaths virtualThreadManagementPaths(
                ObjectProvider<PathMappedEndpoints> endpoints, Environment environment) {
            return new ManagementPaths(endpoints, environment);
        }
    }

    /** WebFlux has no such filter: its permits would be back before the work of a cancelled request has ended. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
    @ConditionalOnBean(name = VirtualThreadAutoConfiguration.ENGINE)
    @Conditional(OnDoor.class)
    static class ReactiveDoorConfiguration {

        @Bean
        FurtherCheck virtualThreadDoorCheck(Environment environment) {
            Mistake reactive = new Mistake(
                    "virtual-thread.web.limit and virtual-thread.web.deadline need a servlet application, but this one is reactive",
                    "Remove both. Limit the methods that the handlers call, by @VirtualThread.");
            return limits -> OnDoor.isOn(environment) ? List.of(reactive) : List.of();
        }
    }

    /** For WebFlux. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
    @ConditionalOnClass(name = "org.springframework.web.reactive.DispatchExceptionHandler")
    @ConditionalOnBean(name = VirtualThreadAutoConfiguration.ENGINE)
    @EnableConfigurationProperties(VirtualThreadProperties.class)
    static class WebFluxConfiguration {

        /** Spring Boot's own handler has order -1 and answers everything. */
        private static final int BEFORE_SPRING_BOOT = -2;

        @Bean
        WebFluxRejections virtualThreadRejections(
                VirtualThreadProperties properties,
                @Qualifier("errorWebExceptionHandler") ObjectProvider<WebExceptionHandler> errors,
                ObjectProvider<org.springframework.web.reactive.result.method.annotation.ResponseEntityExceptionHandler>
                        problemDetails,
                ObjectProvider<RequestMappingHandlerAdapter> adapter,
                ObjectProvider<HandlerResultHandler> resultHandlers) {
            boolean on = problemDetails.stream().findAny().isPresent();
            return new WebFluxRejections(
                    SettingsFactory.answers(properties.web()),
                    isSpringBoots(errors.getIfAvailable()) ? BEFORE_SPRING_BOOT : Ordered.LOWEST_PRECEDENCE,
                    on ? adapter.getIfAvailable() : null,
                    resultHandlers::orderedStream);
        }

        /** An application that handles errors itself replaces Spring Boot's handler; then ours comes last. */
        private static boolean isSpringBoots(@Nullable WebExceptionHandler handler) {
            return handler != null && handler.getClass().getName().startsWith("org.springframework.boot.");
        }
    }
}
