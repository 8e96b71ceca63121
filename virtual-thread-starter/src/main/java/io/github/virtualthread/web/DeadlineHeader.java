package io.github.virtualthread.web;

import io.github.virtualthread.execution.Deadline;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.http.client.ClientHttpRequest;
import org.springframework.http.client.ClientHttpRequestInitializer;
import org.springframework.util.Assert;
import org.springframework.web.client.ResourceAccessException;

/**
 * Tells other services how much time is left of the {@link Deadline} of the thread, in milliseconds, as a decimal number. Once the
 * deadline has passed, no request is sent to them. Requests without a deadline, and those to other hosts, are left as they are.
 *
 * <p>Spring Boot adds it to its builders of {@code RestClient} and {@code RestTemplate} if {@code virtual-thread.client.deadline-header}
 * is set. Elsewhere, hand it to {@code RestClient.Builder.requestInitializer}. It is no interceptor, because for one Spring would keep
 * the body of each request in memory.
 *
 * <p>The number is that of the moment when the request is made. What an interceptor then waits is not subtracted, and what it repeats, or
 * a client redirects, is sent again as it is.
 *
 * <p>Thread-safe. Does not block.
 */
public final class DeadlineHeader implements ClientHttpRequestInitializer {

    private static final String ALL = "*";

    /** What servers take that read nine digits: more than eleven days. */
    private static final long MOST_MILLISECONDS = 999_999_999;

    private final String name;
    private final List<String> hosts;

    /**
     * Creates a header for some hosts.
     *
     * @param name name of the header
     * @param hosts names of the hosts that are told, without scheme and port; {@code *.shop.internal} stands for all names that end
     *     so, {@code *} for all hosts
     * @throws IllegalArgumentException if the name is blank
     */
    public DeadlineHeader(String name, Collection<String> hosts) {
        Assert.hasText(name, "The name of the header that tells the deadline must not be blank");
        this.name = name.strip();
        this.hosts = hosts.stream().map(host -> lower(host.strip())).toList();
    }

    /**
     * Sets the header.
     *
     * @param request a request that is to be sent
     * @throws ResourceAccessException if the deadline has passed; its cause is a {@link SocketTimeoutException}, as of a client whose
     *     own timeout has passed
     */
    @Override
    public void initialize(ClientHttpRequest request) {
        Optional<Duration> left = Deadline.remaining();
        if (left.isEmpty() || !isTold(request.getURI().getHost())) {
            return;
        }
        long milliseconds = left.get().toMillis();
        if (milliseconds == 0) {
            SocketTimeoutException late =
                    new SocketTimeoutException("The deadline had passed before a request to %s was sent"
                            .formatted(request.getURI().getHost()));
            throw new ResourceAccessException(String.valueOf(late.getMessage()), late);
        }
        request.getHeaders().set(name, Long.toString(Math.min(milliseconds, MOST_MILLISECONDS)));
    }

    private boolean isTold(@Nullable String host) {
        if (hosts.contains(ALL)) {
            return true;
        }
        if (host == null) {
            return false;
        }
        String lower = lower(host);
        return hosts.stream().anyMatch(pattern -> matches(pattern, lower));
    }

    private static boolean matches(String pattern, String host) {
        return pattern.startsWith("*.") ? host.endsWith(pattern.substring(1)) : host.equals(pattern);
    }

    private static String lower(String host) {
        return host.toLowerCase(Locale.ROOT);
    }
}
