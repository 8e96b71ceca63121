package io.github.virtualthread.autoconfigure;

import jakarta.servlet.http.HttpServletRequest;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
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

    private final SingletonSupplier<List<PathPattern>> patterns;

    /** Looks at the endpoints when the first request comes. */
    ManagementPaths(ObjectProvider<PathMappedEndpoints> endpoints, Environment environment) {
        this.patterns = SingletonSupplier.of(() -> patterns(endpoints.getIfAvailable(), environment));
    }

    private static List<PathPattern> patterns(@Nullable PathMappedEndpoints endpoints, Environment environment) {
        if (endpoints == null) {
            return List.of();
        }
        // health groups may have a path on this port even if the endpoints have another port
        Stream<String> groups =
                endpoints.stream().flatMap(each -> each.getAdditionalPaths(WebServerNamespace.SERVER).stream());
        Stream<String> paths = ManagementPortType.get(environment) == ManagementPortType.SAME
                ? Stream.concat(groups, paths(endpoints))
                : groups;
        PathPatternParser parser = PathPatternParser.defaultInstance;
        List<String> servlets = servlets(environment);
        return paths.flatMap(path -> servlets.stream().map(servlet -> servlet + path + "/**"))
                .map(pattern -> parser.parse(parser.initFullPathPattern(pattern)))
                .toList();
    }

    /** Only the servlets that may have the endpoints: another one would have paths that pass, such as {@code /files/actuator/}. */
    private static List<String> servlets(Environment environment) {
        return Stream.of("spring.mvc.servlet.path", "spring.jersey.application-path")
                .map(key -> StringUtils.trimTrailingCharacter(environment.getProperty(key, ""), '/'))
                .distinct()
                .toList();
    }

    /** The root is not the base path of endpoints alone. */
    private static Stream<String> paths(PathMappedEndpoints endpoints) {
        String base = endpoints.getBasePath();
        return StringUtils.hasText(base) && !base.equals("/") ? Stream.of(base) : endpoints.getAllPaths().stream();
    }

    @Override
    public boolean test(HttpServletRequest request) {
        return DoorSettings.matches(patterns.obtain(), request);
    }
}
