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

/** Answers web requests whose call was rejected. */
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
     * For Spring MVC. Only where Spring's own resolvers are beans: a servlet without any resolver bean has its defaults, and
     * would lose them for ours.
     */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    @ConditionalOnClass(name = "org.springframework.web.servlet.HandlerExceptionResolver")
    @ConditionalOnBean(value = TaskEngine.class, name = WebMvcConfiguration.RESOLVERS)
    @EnableConfigurationProperties(VirtualThreadProperties.class)
    static class WebMvcConfiguration {

        static final String RESOLVERS = "handlerExceptionResolver";

        /** In no order: an application's own resolver without one is registered earlier, and comes first. */
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

        /** Without those behind it, which log each answer and have it rendered by the error page. */
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

        /** Spring Boot's own handler has -1 and answers everything. */
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

        /** An application that handles errors itself replaces it; then ours comes last. */
        private static boolean isSpringBoots(@Nullable WebExceptionHandler handler) {
            return handler != null && handler.getClass().getName().startsWith("org.springframework.boot.");
        }
    }
}
