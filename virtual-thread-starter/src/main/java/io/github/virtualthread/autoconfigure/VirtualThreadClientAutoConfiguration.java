package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.Internal;
import io.github.virtualthread.autoconfigure.properties.VirtualThreadProperties;
import io.github.virtualthread.config.BeanNames;
import io.github.virtualthread.web.DeadlineHeader;
import java.util.List;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.http.client.ClientHttpRequestInitializer;

/**
 * Auto-configuration for the header that tells other services how much time is left. Spring Boot 4 has its customizers of clients in
 * another package than Spring Boot 3.
 */
@Internal
@AutoConfiguration(after = VirtualThreadAutoConfiguration.class)
@Conditional(ClientSettings.AreSet.class)
@ConditionalOnBean(name = BeanNames.ENGINE)
@EnableConfigurationProperties(VirtualThreadProperties.class)
public class VirtualThreadClientAutoConfiguration {

    /** Created by Spring. */
    public VirtualThreadClientAutoConfiguration() {}

    @Bean(BeanNames.CLIENT_SETTINGS)
    ClientSettings virtualThreadClientSettings(
            VirtualThreadProperties properties, BeanFactory beans, Environment environment) {
        return new ClientSettings(properties.client(), beans, environment);
    }

    /** Empty if no service is told, which is known at the start only. */
    private static List<ClientHttpRequestInitializer> initializers(ClientSettings settings) {
        String name = settings.name();
        return name == null ? List.of() : List.of(new DeadlineHeader(name, settings.hosts()));
    }

    /** Clients of Spring Boot 4. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.boot.restclient.RestClientCustomizer")
    static class Clients {

        @Bean(ClientSettings.CUSTOMIZER)
        org.springframework.boot.restclient.RestClientCustomizer virtualThreadRestClients(ClientSettings settings) {
            return client -> client.requestInitializers(all -> all.addAll(initializers(settings)));
        }

        @Bean
        org.springframework.boot.restclient.RestTemplateCustomizer virtualThreadRestTemplates(ClientSettings settings) {
            return client -> client.getClientHttpRequestInitializers().addAll(initializers(settings));
        }
    }

    /** Clients of Spring Boot 3. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(
            name = {
                "org.springframework.boot.web.client.RestClientCustomizer",
                "org.springframework.web.client.RestClient"
            })
    static class Boot3Clients {

        @Bean(ClientSettings.CUSTOMIZER)
        org.springframework.boot.web.client.RestClientCustomizer virtualThreadRestClients(ClientSettings settings) {
            return client -> client.requestInitializers(all -> all.addAll(initializers(settings)));
        }

        @Bean
        org.springframework.boot.web.client.RestTemplateCustomizer virtualThreadRestTemplates(ClientSettings settings) {
            return client -> client.getClientHttpRequestInitializers().addAll(initializers(settings));
        }
    }
}
