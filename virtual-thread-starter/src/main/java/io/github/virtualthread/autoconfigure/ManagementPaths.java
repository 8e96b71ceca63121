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
import org.springframework.http.server.PathContainer;
import org.springframework.util.StringUtils;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.util.ServletRequestPathUtils;
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
        return paths.map(path -> parser.parse(parser.initFullPathPattern(path + "/**")))
                .toList();
    }

    /** The root is not the base path of endpoints alone. */
    private static Stream<String> paths(PathMappedEndpoints endpoints) {
        String base = endpoints.getBasePath();
        return StringUtils.hasText(base) && !base.equals("/") ? Stream.of(base) : endpoints.getAllPaths().stream();
    }

    /** These paths begin behind that of the servlet, which an application may have moved from the root. */
    @Override
    public boolean test(HttpServletRequest request) {
        List<PathPattern> excluded = patterns.obtain();
        if (excluded.isEmpty()) {
            return false;
        }
        PathContainer path = ServletRequestPathUtils.parse(request).pathWithinApplication();
        return excluded.stream().anyMatch(pattern -> pattern.matches(path));
    }
}
