package io.github.virtualthread.actuate;

import io.github.virtualthread.Internal;
import io.github.virtualthread.limit.LimitNames;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.InvocationContext;
import org.springframework.boot.actuate.endpoint.OperationArgumentResolver;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.OperationType;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvoker;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvokerAdvisor;
import org.springframework.boot.actuate.endpoint.invoke.OperationParameter;
import org.springframework.boot.actuate.endpoint.invoke.OperationParameters;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.WebServerNamespace;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;

/**
 * Requests to {@link VirtualThreadsEndpoint} over HTTP. The exceptions of its operations become status 404 or 400, with the
 * reason in the body.
 *
 * <p>Unknown parameters are rejected. Spring Boot ignores them, so a misspelt one would change nothing, or more than was meant. A
 * known parameter is accepted in any spelling of its uniform form: {@code queue-capacity} is {@code queueCapacity}.
 */
@Internal
public final class WebRequests implements OperationInvokerAdvisor {

    private static final EndpointId ENDPOINT = EndpointId.of("virtualthreads");

    /** {@code HandlerMapping.URI_TEMPLATE_VARIABLES_ATTRIBUTE}, which exists with Spring MVC only. */
    private static final String PATH_VARIABLES = "org.springframework.web.servlet.HandlerMapping.uriTemplateVariables";

    /** Creates an advisor without state. */
    public WebRequests() {}

    /** Does not affect other endpoints, nor operations without parameters of their own. */
    @Override
    public OperationInvoker apply(
            EndpointId endpoint, OperationType type, OperationParameters parameters, OperationInvoker invoker) {
        List<String> path = new ArrayList<>();
        List<String> known = new ArrayList<>();
        for (OperationParameter parameter : parameters) {
            (parameter.getAnnotation(Selector.class) == null ? known : path).add(parameter.getName());
        }
        if (!endpoint.equals(ENDPOINT) || known.isEmpty()) {
            return invoker;
        }
        return context -> {
            if (!context.canResolve(WebServerNamespace.class)) { // over JMX
                return invoker.invoke(context);
            }
            try {
                for (String name : path) {
                    requireOfPath(name, context.getArguments().get(name));
                }
                Map<String, Object> arguments = read(context.getArguments(), path, known);
                return invoker.invoke(new InvocationContext(SecurityContext.NONE, arguments, allOf(context)));
            } catch (NoSuchElementException unknown) {
                return refusal(unknown, WebEndpointResponse.STATUS_NOT_FOUND);
            } catch (IllegalArgumentException wrong) {
                return refusal(wrong, WebEndpointResponse.STATUS_BAD_REQUEST);
            }
        };
    }

    /** The body says why the request was refused, and what to send instead. */
    private static WebEndpointResponse<Map<String, String>> refusal(RuntimeException failure, int status) {
        return new WebEndpointResponse<>(
                OperationResponseBody.of(Map.of("message", String.valueOf(failure.getMessage()))), status);
    }

    /** Spring Boot lets a parameter replace a variable of the path, which would evade rules for paths. Only Spring MVC tells. */
    private static void requireOfPath(String name, @Nullable Object value) {
        RequestAttributes request = RequestContextHolder.getRequestAttributes();
        Object path = request == null ? null : request.getAttribute(PATH_VARIABLES, RequestAttributes.SCOPE_REQUEST);
        if (path instanceof Map<?, ?> variables && !Objects.equals(value, variables.get(name))) {
            throw new IllegalArgumentException("%s is not a parameter: the path names the limit".formatted(name));
        }
    }

    private static Map<String, Object> read(Map<String, Object> given, List<String> path, List<String> known) {
        Map<String, Object> arguments = new LinkedHashMap<>();
        List<String> unknown = new ArrayList<>();
        given.forEach((spelling, value) -> {
            String name = path.contains(spelling) ? spelling : nameOf(spelling, known);
            if (name == null) {
                unknown.add(spelling);
            } else if (arguments.containsKey(name)) {
                throw new IllegalArgumentException("%s is given more than once".formatted(name));
            } else {
                arguments.put(name, value);
            }
        });
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException(
                    "Unknown parameters %s; known parameters are %s".formatted(unknown, known));
        }
        return arguments;
    }

    private static @Nullable String nameOf(String spelling, List<String> known) {
        for (String name : known) {
            if (LimitNames.areEqual(name, spelling)) {
                return name;
            }
        }
        return null;
    }

    /** Passes on what the web layer resolves for operations besides their parameters, such as the caller's identity. */
    private static OperationArgumentResolver allOf(InvocationContext context) {
        return new OperationArgumentResolver() {

            @Override
            public boolean canResolve(Class<?> type) {
                return context.canResolve(type);
            }

            @Override
            public <T> T resolve(Class<T> type) {
                return context.resolveArgument(type);
            }
        };
    }
}
