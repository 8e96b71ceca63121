package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.web.WebFluxRejections;
import io.github.virtualthread.web.WebMvcRejections;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.web.reactive.HandlerResultHandler;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerAdapter;
import org.springframework.web.server.WebExceptionHandler;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.handler.HandlerExceptionResolverComposite;
import org.springframework.web.servlet.mvc.method.annotation.ExceptionHandlerExceptionResolver;

/** Auto-configuration for answers to web requests whose call was rejected. */
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
    @ConditionalOnBean(value = TaskEngine.class, name = WebMvcConfiguration.RESOLVERS)
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
            return new WebMvcRejections(
                    SettingsFactory.rejectionAnswer(properties.web()), on ? advice(resolvers) : null);
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

    /** For WebFlux. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
    @ConditionalOnClass(name = "org.springframework.web.reactive.DispatchExceptionHandler")
    @ConditionalOnBean(TaskEngine.class)
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
                    SettingsFactory.rejectionAnswer(properties.web()),
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
