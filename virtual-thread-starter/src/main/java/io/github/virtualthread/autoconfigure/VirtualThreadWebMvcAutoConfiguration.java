package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.Internal;
import io.github.virtualthread.autoconfigure.properties.SettingsFactory;
import io.github.virtualthread.autoconfigure.properties.VirtualThreadProperties;
import io.github.virtualthread.config.BeanNames;
import io.github.virtualthread.web.WebMvcRejections;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigureOrder;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.Ordered;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.handler.HandlerExceptionResolverComposite;
import org.springframework.web.servlet.mvc.method.annotation.ExceptionHandlerExceptionResolver;

/**
 * Auto-configuration for Spring MVC: answers to requests whose call was rejected or has timed out, if Spring's own resolvers are beans. A
 * servlet without any resolver bean uses its defaults, and a bean of ours would replace them.
 */
@Internal
@AutoConfiguration(after = VirtualThreadAutoConfiguration.class)
@AutoConfigureOrder(Ordered.LOWEST_PRECEDENCE) // after that of Spring MVC, whose name differs between versions
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass(name = "org.springframework.web.servlet.HandlerExceptionResolver")
@ConditionalOnBean(name = {BeanNames.ENGINE, VirtualThreadWebMvcAutoConfiguration.RESOLVERS})
@EnableConfigurationProperties(VirtualThreadProperties.class)
@Lazy
public class VirtualThreadWebMvcAutoConfiguration {

    static final String RESOLVERS = "handlerExceptionResolver";

    /** Created by Spring. */
    public VirtualThreadWebMvcAutoConfiguration() {}

    /** Has no order: an application's own resolver without an order is registered earlier and comes first. */
    @Bean
    static WebMvcRejections virtualThreadRejections(
            ObjectProvider<VirtualThreadProperties> properties,
            ObjectProvider<org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler>
                    problemDetails,
            @Qualifier(RESOLVERS) ObjectProvider<HandlerExceptionResolver> resolvers) {
        return new WebMvcRejections(
                () -> SettingsFactory.answers(properties.getObject().web()),
                () -> problemDetails.stream().findAny().isPresent() ? advice(resolvers.getObject()) : null);
    }

    /** Without the resolvers behind it, which log each answer and have the error page render it. */
    private static @Nullable HandlerExceptionResolver advice(HandlerExceptionResolver resolvers) {
        if (resolvers instanceof HandlerExceptionResolverComposite composite) {
            return composite.getExceptionResolvers().stream()
                    .filter(ExceptionHandlerExceptionResolver.class::isInstance)
                    .findFirst()
                    .orElse(null);
        }
        return null;
    }
}
