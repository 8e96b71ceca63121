package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.autoconfigure.properties.HeaderNames;
import io.github.virtualthread.autoconfigure.properties.VirtualThreadProperties.Web;
import io.github.virtualthread.config.StartupPart;
import io.github.virtualthread.limit.Durations;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.PropertyKeys;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.http.server.PathContainer.PathSegment;
import org.springframework.http.server.RequestPath;
import org.springframework.util.StringUtils;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;
import org.springframework.web.util.pattern.PatternParseException;

/**
 * The limit at the door, as the properties set it. Servers create filters before the start-up check, so a wrong value counts as not
 * set until then.
 */
final class DoorSettings implements StartupPart {

    private static final String LIMIT = "virtual-thread.web.limit";
    private static final String DEADLINE = "virtual-thread.web.deadline";
    private static final String DEADLINE_HEADER = "virtual-thread.web.deadline-header";
    private static final String CANCEL_ABANDONED = "virtual-thread.web.cancel-abandoned";
    private static final String VIRTUAL = "spring.threads.virtual.enabled";

    private final @Nullable String limit;
    private final @Nullable Duration deadline;
    private final @Nullable String deadlineHeader;
    private final boolean cancelAbandoned;
    private final boolean virtualThreads;
    private final BooleanSupplier closesConnections;
    private final BooleanSupplier tellsOfClients;
    private final List<PathPattern> exclude = new ArrayList<>();
    private final List<Mistake> mistakes = new ArrayList<>();

    /**
     * Reads the settings.
     *
     * @param virtualThreads whether the server has a virtual thread for each request
     * @param closesConnections whether there is a pool whose statements are not cancelled; asked at the start
     * @param tellsOfClients whether this system tells of clients that have gone; asked at the start, because an application that was
     *     processed ahead of time may run on another one
     */
    DoorSettings(Web web, boolean virtualThreads, BooleanSupplier closesConnections, BooleanSupplier tellsOfClients) {
        this.limit = OnDoor.limit(web.limit());
        this.deadline = deadline(web.deadline());
        this.deadlineHeader = HeaderNames.checked(DEADLINE_HEADER, web.deadlineHeader(), mistakes);
        this.cancelAbandoned = web.cancelAbandoned();
        this.virtualThreads = virtualThreads;
        this.closesConnections = closesConnections;
        this.tellsOfClients = tellsOfClients;
        for (int i = 0; i < web.exclude().size(); i++) {
            exclude(i, web.exclude().get(i));
        }
    }

    private @Nullable Duration deadline(@Nullable Duration given) {
        if (given == null || given.isPositive()) {
            return given;
        }
        mistakes.add(new Mistake(
                "%s must be longer than zero, was %s".formatted(DEADLINE, Durations.text(given)),
                "Set %s to a duration such as 5s, or remove it.".formatted(DEADLINE)));
        return null;
    }

    private void exclude(int index, String pattern) {
        if (!StringUtils.hasText(pattern)) {
            return;
        }
        PathPatternParser parser = PathPatternParser.defaultInstance;
        try {
            exclude.add(parser.parse(parser.initFullPathPattern(pattern.strip())));
        } catch (PatternParseException wrong) {
            mistakes.add(new Mistake(
                    "virtual-thread.web.exclude[%d] must be a path pattern, was '%s': %s"
                            .formatted(index, pattern, wrong.getMessage()),
                    "Write a pattern as for a @GetMapping, such as /events/** or /orders/{id}/events."));
        }
    }

    @Nullable
    String limit() {
        return limit;
    }

    @Nullable
    Duration deadline() {
        return deadline;
    }

    @Nullable
    String deadlineHeader() {
        return deadlineHeader;
    }

    /** Whether a request passes without a permit. */
    Predicate<HttpServletRequest> exclude() {
        return request -> matches(exclude, request);
    }

    /**
     * Whether the path of a request matches a pattern, from the context path on. A path that the server reads otherwise than it is
     * written matches none: it may lead elsewhere, as {@code /events/../orders} does.
     */
    static boolean matches(Collection<PathPattern> patterns, HttpServletRequest request) {
        if (patterns.isEmpty()) {
            return false;
        }
        PathContainer path;
        try {
            path = RequestPath.parse(request.getRequestURI(), request.getContextPath())
                    .pathWithinApplication();
        } catch (IllegalArgumentException | IllegalStateException strange) { // such as a context path that is encoded
            return false;
        }
        return patterns.stream().anyMatch(pattern -> pattern.matches(path))
                && decoded(path).equals(request.getServletPath() + Objects.toString(request.getPathInfo(), ""));
    }

    private static String decoded(PathContainer path) {
        String decoded = "";
        for (PathContainer.Element element : path.elements()) {
            decoded += element instanceof PathSegment segment ? segment.valueToMatch() : element.value();
        }
        return decoded;
    }

    @Override
    public List<Mistake> mistakes(TaskLimits limits) {
        List<Mistake> found = new ArrayList<>(mistakes);
        if (limit != null && !limits.contains(limit)) {
            found.add(StartupPart.unknownLimit(LIMIT, limit, limits));
        } else if (limit != null) {
            TaskLimit door = limits.get(limit);
            String key = PropertyKeys.limit(door.name());
            if (door.queueCapacity() == LimitSettings.UNBOUNDED && door.maxWait() == null) {
                found.add(new Mistake(
                        "%s asks for limit '%s', which has neither queue-capacity nor max-wait: any number of requests could wait, %s"
                                .formatted(
                                        LIMIT, door.name(), deadline == null ? "forever" : "each until its deadline"),
                        "Set %s.queue-capacity to the maximum number of waiting requests, and %s.max-wait to a duration such as 2s."
                                .formatted(key, key)));
            }
            if (door.queueCapacity() > 0 && !virtualThreads) {
                found.add(new Mistake(
                        "%s asks for limit '%s', under which requests wait, but %s is not true: each waiting request would hold a platform thread of the server"
                                .formatted(LIMIT, door.name(), VIRTUAL),
                        "Set %s to true; or set %s.queue-capacity to 0, which rejects requests instead of letting them wait."
                                .formatted(VIRTUAL, key)));
            }
        }
        return found;
    }

    /** A client can end only its own calls, but the next ones have no connections then. */
    @Override
    public List<String> warnings() {
        List<String> byClients = new ArrayList<>();
        if (cancelAbandoned) {
            byClients.add(CANCEL_ABANDONED);
        }
        if (deadlineHeader != null) {
            byClients.add(DEADLINE_HEADER);
        }
        if (byClients.isEmpty() || !closesConnections.getAsBoolean()) {
            return List.of();
        }
        return List.of(
                "Clients may end their calls by %s: each query that is interrupted closes its connection, and the database goes on with it. Set virtual-thread.jdbc.cancel-statements=true"
                        .formatted(String.join(" and ", byClients)));
    }

    @Override
    public List<String> remarks() {
        if (!cancelAbandoned || tellsOfClients.getAsBoolean()) {
            return List.of();
        }
        return List.of(
                "%s has less effect here than on Linux: there is no /proc/self/net/tcp to tell of clients that have gone, so only those count of which the server tells, with HTTP/1.1 when a write fails"
                        .formatted(CANCEL_ABANDONED));
    }

    @Override
    public boolean givesDeadlines() {
        return deadline != null || deadlineHeader != null;
    }
}
