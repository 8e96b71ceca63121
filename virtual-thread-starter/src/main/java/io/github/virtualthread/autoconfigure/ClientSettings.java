package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.aop.VirtualThreadBeanPostProcessor;
import io.github.virtualthread.autoconfigure.properties.HeaderNames;
import io.github.virtualthread.autoconfigure.properties.PropertiesBinding;
import io.github.virtualthread.autoconfigure.properties.VirtualThreadProperties.Client;
import io.github.virtualthread.config.StartupPart;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.Mistake;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.StringUtils;

/** What other services are told of the deadline, as the properties set it. A wrong value counts as not set until the start fails. */
final class ClientSettings implements StartupPart {

    static final String HEADER = "virtual-thread.client.deadline-header";
    static final String HOSTS = "virtual-thread.client.deadline-hosts";

    /** The bean that adds the header to what Spring Boot builds. */
    static final String CUSTOMIZER = "virtualThreadRestClients";

    /** Beans of Spring Boot that ask for the one above. Spring Boot 3 has none of them in most reactive applications. */
    private static final List<String> CONFIGURERS = List.of(
            "restClientBuilderConfigurer",
            "restTemplateBuilderConfigurer",
            "restClientCustomizerHttpServiceGroupConfigurer");

    /** What {@code java.net.URI} takes for a host, so no underscore, and what stands for many of them. */
    private static final Pattern HOST = Pattern.compile("\\*|(\\*\\.)?[A-Za-z0-9.-]+");

    private final List<Mistake> mistakes = new ArrayList<>();
    private final BeanFactory beans;
    private final boolean enabled;
    private final @Nullable String name;
    private final List<String> hosts;

    ClientSettings(Client client, BeanFactory beans, Environment environment) {
        this.beans = beans;
        this.enabled = VirtualThreadBeanPostProcessor.isEnabled(environment);
        this.name = HeaderNames.checked(HEADER, client.deadlineHeader(), mistakes);
        this.hosts = client.deadlineHosts().stream()
                .filter(StringUtils::hasText)
                .map(String::strip)
                .toList();
        hosts.stream().filter(host -> !HOST.matcher(host).matches()).forEach(this::isNoHost);
        if (name != null && hosts.isEmpty()) {
            mistakes.add(new Mistake(
                    "%s is set, but %s is empty: no service would get the header".formatted(HEADER, HOSTS),
                    "Set %s to the hosts that are told, such as reviews or *.shop.internal, or remove %s."
                            .formatted(HOSTS, HEADER)));
        }
    }

    private void isNoHost(String host) {
        mistakes.add(
                new Mistake(
                        "%s must have names of hosts, was '%s'".formatted(HOSTS, host),
                        "Write the name without scheme, port and path, such as reviews, *.shop.internal for all names that end so, or * for all."));
    }

    /** Name of the header, null if no service is told. */
    @Nullable
    String name() {
        return enabled && mistakes.isEmpty() ? name : null;
    }

    List<String> hosts() {
        return hosts;
    }

    @Override
    public List<Mistake> mistakes(TaskLimits limits) {
        List<Mistake> found = new ArrayList<>(mistakes);
        if (name() != null && !beans.containsBean(CUSTOMIZER)) {
            found.add(new Mistake(
                    "%s is set, but Spring Boot's builder of RestClient is not on the class path: no service would get the header"
                            .formatted(HEADER),
                    "Add the dependency spring-boot-starter-restclient (with Spring Boot 3, spring-web), or remove %s."
                            .formatted(HEADER)));
        }
        return found;
    }

    @Override
    public List<String> warnings() {
        if (name() == null || CONFIGURERS.stream().anyMatch(beans::containsBean)) {
            return List.of();
        }
        return List.of(
                "%s is set, but Spring Boot configures no RestClient and no RestTemplate in this application: only clients to which"
                                .formatted(HEADER)
                        + " the application itself adds a DeadlineHeader send the header");
    }

    static final class AreSet implements Condition {

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            ConfigurableEnvironment environment = (ConfigurableEnvironment) context.getEnvironment();
            boolean isAsked = VirtualThreadBeanPostProcessor.isEnabled(environment)
                    && PropertiesBinding.isAnySet(environment.getPropertySources(), "client");
            return isAsked || PropertiesBinding.isAheadOfTime();
        }
    }
}
