package io.github.virtualthread.autoconfigure;

import jakarta.servlet.http.HttpServletRequest;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementPortType;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.actuate.endpoint.web.WebServerNamespace;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;

/** Requests to Actuator's endpoints, and to its health groups, on the port of the application. Probes must not wait at the door. */
final class ManagementPaths implements Predicate<HttpServletRequest> {

    private final SingletonSupplier<Set<PathPattern>> patterns;

    /** Looks at the endpoints when the first request comes. */
    ManagementPaths(ObjectProvider<PathMappedEndpoints> endpoints, Environment environment) {
        this.patterns = SingletonSupplier.of(() -> patterns(endpoints.getIfAvailable(), environment));
    }

    private static Set<PathPattern> patterns(@Nullable PathMappedEndpoints endpoints, Environment environment) {
        List<String> paths = new ArrayList<>();
        if (endpoints != null) {
            // health groups may have a path on this port even if the endpoints have another port
            endpoints.forEach(each -> paths.addAll(each.getAdditionalPaths(WebServerNamespace.SERVER)));
            if (ManagementPortType.get(environment) == ManagementPortType.SAME) {
                String base = endpoints.getBasePath();
                boolean isRoot = !StringUtils.hasText(base) || base.equals("/"); // which is not that of endpoints alone
                paths.addAll(isRoot ? endpoints.getAllPaths() : List.of(base));
            }
        }
        PathPatternParser parser = PathPatternParser.defaultInstance;
        Set<PathPattern> patterns = new LinkedHashSet<>();
        // only the servlets that may have the endpoints: another one would have paths that pass, such as
        // /files/actuator/
        for (String key : List.of("spring.mvc.servlet.path", "spring.jersey.application-path")) {
            String servlet = StringUtils.trimTrailingCharacter(environment.getProperty(key, ""), '/');
            for (String path : paths) {
                patterns.add(parser.parse(parser.initFullPathPattern(servlet + path + "/**")));
            }
        }
        return patterns;
    }

    @Override
    public boolean test(HttpServletRequest request) {
        return DoorSettings.matches(patterns.obtain(), request);
    }
}
