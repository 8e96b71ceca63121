package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.Internal;
import io.github.virtualthread.autoconfigure.properties.SettingsFactory;
import io.github.virtualthread.autoconfigure.properties.VirtualThreadProperties;
import io.github.virtualthread.config.BeanNames;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.web.ClientWatch;
import io.github.virtualthread.web.RejectionAnswer;
import io.github.virtualthread.web.RequestKey;
import io.github.virtualthread.web.WebLimitFilter;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletRequest;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
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
import org.springframework.core.env.Environment;

/** Auto-configuration for the limit at the door of a servlet application. */
@Internal
@AutoConfiguration(after = VirtualThreadAutoConfiguration.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@Conditional(OnDoor.class)
@ConditionalOnBean(name = BeanNames.ENGINE)
@EnableConfigurationProperties(VirtualThreadProperties.class)
public class VirtualThreadDoorAutoConfiguration {

    /** Created by Spring. */
    public VirtualThreadDoorAutoConfiguration() {}

    @Bean(BeanNames.DOOR_SETTINGS)
    DoorSettings virtualThreadDoorSettings(
            VirtualThreadProperties properties, Environment environment, ConfigurableListableBeanFactory beans) {
        return new DoorSettings(
                properties.web(),
                environment.getProperty("spring.threads.virtual.enabled", Boolean.class, false),
                () -> StatementsSwitch.closesConnections(beans, environment),
                ClientWatch::isPossible);
    }

    /** Servers create filters before other beans, so this one looks up the calls by hand when the first request comes. */
    @Bean
    @ConditionalOnMissingBean(value = WebLimitFilter.class, parameterizedContainer = FilterRegistrationBean.class)
    FilterRegistrationBean<WebLimitFilter> virtualThreadWebLimitFilter(
            VirtualThreadProperties properties,
            DoorSettings virtualThreadDoorSettings,
            ObjectProvider<VirtualThreads> threads,
            ObjectProvider<RequestKey> requestKey,
            ObjectProvider<ManagementPaths> managementPaths,
            Environment environment) {
        DoorSettings settings = virtualThreadDoorSettings;
        WebLimitFilter filter = new WebLimitFilter(threads::getObject, settings.limit(), settings.deadline());
        RejectionAnswer answer = SettingsFactory.rejectionAnswer(properties.web());
        if (answer.status() != 0) {
            filter.setRejectedStatus(answer.status());
        }
        filter.setRetryAfter(answer.retryAfter());
        filter.setDeadlineHeader(settings.deadlineHeader());
        filter.setCancelAbandoned(properties.web().cancelAbandoned());
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
