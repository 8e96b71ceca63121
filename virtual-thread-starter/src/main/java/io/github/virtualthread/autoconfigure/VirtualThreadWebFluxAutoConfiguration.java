package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.web.WebFluxRejections;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.web.reactive.HandlerResultHandler;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerAdapter;
import org.springframework.web.reactive.result.method.annotation.ResponseEntityExceptionHandler;
import org.springframework.web.server.WebExceptionHandler;

/** Answers requests of WebFlux whose call was rejected. */
@AutoConfiguration(after = VirtualThreadAutoConfiguration.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@ConditionalOnClass(name = "org.springframework.web.reactive.DispatchExceptionHandler")
@ConditionalOnBean(TaskEngine.class)
@EnableConfigurationProperties(VirtualThreadProperties.class)
public class VirtualThreadWebFluxAutoConfiguration {

    /** Spring Boot's own handler has -1 and answers everything. */
    private static final int BEFORE_SPRING_BOOT = -2;

    /** Created by Spring. */
    public VirtualThreadWebFluxAutoConfiguration() {}

    @Bean
    WebFluxRejections virtualThreadRejections(
            VirtualThreadProperties properties,
            @Qualifier("errorWebExceptionHandler") ObjectProvider<WebExceptionHandler> errors,
            ObjectProvider<ResponseEntityExceptionHandler> problemDetails,
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
