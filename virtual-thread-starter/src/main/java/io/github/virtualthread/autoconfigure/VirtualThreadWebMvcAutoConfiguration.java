package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.execution.TaskEngine;
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
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.handler.HandlerExceptionResolverComposite;
import org.springframework.web.servlet.mvc.method.annotation.ExceptionHandlerExceptionResolver;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

/**
 * Answers requests of Spring MVC whose call was rejected. Only where Spring's own resolvers are beans: a servlet without any
 * resolver bean has its defaults, and would lose them for ours.
 */
@AutoConfiguration(
        after = VirtualThreadAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration",
            "org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration"
        })
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass(name = "org.springframework.web.servlet.HandlerExceptionResolver")
@ConditionalOnBean(value = TaskEngine.class, name = VirtualThreadWebMvcAutoConfiguration.RESOLVERS)
@EnableConfigurationProperties(VirtualThreadProperties.class)
public class VirtualThreadWebMvcAutoConfiguration {

    static final String RESOLVERS = "handlerExceptionResolver";

    /** Created by Spring. */
    public VirtualThreadWebMvcAutoConfiguration() {}

    /** In no order: an application's own resolver without one is registered earlier, and comes first. */
    @Bean
    WebMvcRejections virtualThreadRejections(
            VirtualThreadProperties properties,
            ObjectProvider<ResponseEntityExceptionHandler> problemDetails,
            @Qualifier(RESOLVERS) HandlerExceptionResolver resolvers) {
        boolean on = problemDetails.stream().findAny().isPresent();
        return new WebMvcRejections(SettingsFactory.rejectionAnswer(properties.web()), on ? advice(resolvers) : null);
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
