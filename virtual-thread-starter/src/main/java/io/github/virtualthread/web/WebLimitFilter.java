package io.github.virtualthread.web;

import io.github.virtualthread.context.SafeLog;
import io.github.virtualthread.execution.Calls;
import io.github.virtualthread.execution.Deadline;
import io.github.virtualthread.execution.HeldPermit;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskSpec;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.Durations;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.mistake.PropertyKeys;
import io.github.virtualthread.web.ClientWatch.Client;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * The limit at the door: each web request takes a permit, and waits for it in the queue of the limit. A request that the limit
 * rejects is answered at once, without a body and without the filters behind this one.
 *
 * <p>A request that is answered asynchronously holds its permit until its answer is complete. Calls that it makes under the same
 * limit, on its own thread, run under the permit of the request. What it calls has what is left of its deadline.
 *
 * <p>Spring Boot registers this filter if {@code virtual-thread.web.limit}, {@code virtual-thread.web.deadline}, {@code
 * virtual-thread.web.deadline-header} or {@code virtual-thread.web.cancel-abandoned} is set. Without Spring Boot, register it for the dispatcher types {@code REQUEST} and {@code ASYNC}, with asynchronous support, behind the filter
 * that observes requests and before all others.
 */
public final class WebLimitFilter extends OncePerRequestFilter {

    /** For a client that has gone, as proxies log it. */
    static final int CLIENT_CLOSED_REQUEST = 499;

    private static final String CLIENT = WebLimitFilter.class.getName() + ".CLIENT";
    private static final int UNAVAILABLE = HttpServletResponse.SC_SERVICE_UNAVAILABLE;

    private static final RejectionAnswer TO_NOBODY = new RejectionAnswer(CLIENT_CLOSED_REQUEST, Duration.ZERO);

    /** Of the milliseconds in a header: more than eleven days, which nobody waits. */
    private static final int MOST_DIGITS = 9;

    private final SingletonSupplier<TaskEngine> engine;
    private final @Nullable SingletonSupplier<TaskSpec> spec; // null without a limit
    private final @Nullable Duration deadline;
    private final AtomicBoolean warned = new AtomicBoolean();

    /** Has a thread from the first use on. */
    private final Supplier<Cleaner> cleaner = SingletonSupplier.of(Cleaner::create);

    private RejectionAnswer answer = new RejectionAnswer(UNAVAILABLE, Duration.ofSeconds(1));
    private Predicate<HttpServletRequest> exclude = request -> false;
    private @Nullable RequestKey requestKey;
    private @Nullable String deadlineHeader; // null if clients do not say how long they wait
    private @Nullable ClientWatch clients; // null if calls go on when their client has gone

    /**
     * Creates a filter that answers 503 and excludes nothing.
     *
     * @param threads bean of this type
     * @param limit name of the limit, null for none
     * @param deadline time that each request has from this filter on, for its wait and its answer; more than zero, null for none
     * @throws IllegalArgumentException if the limit does not exist, or if {@code deadline} is zero or negative
     */
    public WebLimitFilter(VirtualThreads threads, @Nullable String limit, @Nullable Duration deadline) {
        this(() -> threads, limit, deadline);
        if (spec != null) {
            TaskSpec unused = spec.obtain(); // so that a limit that does not exist is noticed now
        }
    }

    /**
     * Creates a filter that looks up bean and limit at the first request, because servers create filters before the start-up
     * check. If the limit does not exist, requests fail.
     *
     * @param threads looks up the bean of this type
     * @param limit name of the limit, null for none
     * @param deadline time that each request has from this filter on; more than zero, null for none
     * @throws IllegalArgumentException if {@code deadline} is zero or negative
     */
    public WebLimitFilter(Supplier<VirtualThreads> threads, @Nullable String limit, @Nullable Duration deadline) {
        if (deadline != null && !deadline.isPositive()) {
            throw new IllegalArgumentException(
                    "A deadline of requests must be longer than zero, was %s".formatted(Durations.text(deadline)));
        }
        SingletonSupplier<TaskEngine> once = SingletonSupplier.of(() -> Calls.engineOf(threads.get()));
        this.engine = once;
        this.spec =
                limit == null ? null : SingletonSupplier.of(() -> once.obtain().spec("web-request", limit));
        this.deadline = deadline;
    }

    /**
     * Sets the status of the answer to a rejected request.
     *
     * @param status HTTP status, 4xx or 5xx
     */
    public void setRejectedStatus(int status) {
        this.answer = new RejectionAnswer(status, answer.retryAfter());
    }

    /**
     * Sets the time after which the client of a rejected request should try again.
     *
     * @param retryAfter not negative, sent in whole seconds as {@code Retry-After}; zero for no such header
     */
    public void setRetryAfter(Duration retryAfter) {
        this.answer = new RejectionAnswer(answer.status(), retryAfter);
    }

    /**
     * Sets which requests pass without a permit and without a deadline, such as event streams, long polls and probes.
     *
     * @param exclude true for such a request
     */
    public void setExclude(Predicate<HttpServletRequest> exclude) {
        this.exclude = exclude;
    }

    /**
     * Sets how the key of a request is found.
     *
     * @param requestKey finds the key; null if requests have none
     */
    public void setRequestKey(@Nullable RequestKey requestKey) {
        this.requestKey = requestKey;
    }

    /**
     * Sets the header by which a client says how long it waits for the answer, in milliseconds, as a decimal number of 1 to 9 digits
     * that is more than zero. Anything else counts as not sent. The header shortens the deadline of a request, and never lengthens it.
     *
     * @param deadlineHeader name of the header, null for none
     */
    public void setDeadlineHeader(@Nullable String deadlineHeader) {
        this.deadlineHeader = deadlineHeader;
    }

    /**
     * Sets whether the calls of a request end when its client has gone: those that wait are rejected, bodies that run are interrupted,
     * and calls made later are rejected. Servers notice that rarely with HTTP/1.1; on Linux, a thread looks for it.
     *
     * @param cancelAbandoned false by default
     */
    public void setCancelAbandoned(boolean cancelAbandoned) {
        this.clients = cancelAbandoned ? new ClientWatch(TcpTable.OF_LINUX) : null;
    }

    /** A request whose thread comes back to it still has the permit and the deadline of its first dispatch. */
    @Override
    protected boolean shouldNotFilter(HttpServletRequest request) {
        return isAsyncDispatch(request) ? passage(request) == null : exclude.test(request);
    }

    @Override
    protected boolean shouldNotFilterAsyncDispatch() {
        return false;
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        Passage passage = isAsyncDispatch(request) ? passage(request) : null;
        if (passage != null) {
            within(passage.deadline, () -> passage.goOn(request, response, chain));
        } else if (clients == null || request.getAttribute(CLIENT) != null) { // or another filter watches it
            Deadline by = Calls.deadline(length(request));
            within(by, () -> pass(by, null, request, response, chain));
        } else {
            follow(clients.begin(request), request, response, chain);
        }
    }

    /** What is here links the class of a client, which is not loaded without need. */
    private void follow(Client client, HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        Deadline by = client.calls.deadline(length(request));
        try {
            request.setAttribute(CLIENT, client);
            within(by, () -> pass(by, client, request, response, chain));
        } finally {
            if (!request.isAsyncStarted()) {
                client.end();
                endIfGone(client, request, response);
            }
        }
    }

    /**
     * The status is for access log and meters: nobody reads the answer. The connection ends, because requests that the client has sent
     * before it left would begin on one of which the table tells nothing any more.
     */
    private static void endIfGone(Client client, HttpServletRequest request, HttpServletResponse response) {
        if (client.calls.isClientGone() && !response.isCommitted()) {
            response.setStatus(CLIENT_CLOSED_REQUEST);
            if (request.getProtocol().equals("HTTP/1.1")) { // HTTP/2 has no such header
                response.setHeader(HttpHeaders.CONNECTION, "close");
            }
        }
    }

    /** Whether the client of a request has gone, and its calls have ended therefore. */
    static boolean isClientGone(HttpServletRequest request) {
        return request.getAttribute(CLIENT) instanceof Client client && client.calls.isClientGone();
    }

    /** What is behind this filter. */
    private interface Rest {
        void run() throws ServletException, IOException;
    }

    private static void within(@Nullable Deadline by, Rest rest) throws ServletException, IOException {
        if (by == null) {
            rest.run();
            return;
        }
        try {
            Object unused = Calls.callBy(by, () -> {
                rest.run();
                return "";
            });
        } catch (ServletException | IOException | RuntimeException failure) {
            throw failure;
        } catch (Exception failure) { // of a filter that is not written in Java
            throw new ServletException(failure);
        }
    }

    /** The time that a request has: ours, or what its client says if that is less. */
    private @Nullable Duration length(HttpServletRequest request) {
        String sent = deadlineHeader == null ? null : request.getHeader(deadlineHeader);
        Duration asked = sent == null ? null : milliseconds(sent);
        return asked == null || (deadline != null && deadline.compareTo(asked) < 0) ? deadline : asked;
    }

    private static @Nullable Duration milliseconds(String sent) {
        boolean isNumber =
                !sent.isEmpty() && sent.length() <= MOST_DIGITS && sent.chars().allMatch(WebLimitFilter::isDigit);
        int milliseconds = isNumber ? Integer.parseInt(sent) : 0;
        return milliseconds == 0 ? null : Duration.ofMillis(milliseconds);
    }

    private static boolean isDigit(int character) {
        return character >= '0' && character <= '9';
    }

    private void pass(
            @Nullable Deadline by,
            @Nullable Client client,
            HttpServletRequest request,
            HttpServletResponse response,
            FilterChain chain)
            throws ServletException, IOException {
        HeldPermit permit = null;
        if (spec != null) {
            String key = key(request);
            TaskSpec passed = spec.obtain();
            warnIfFullOnPlatformThread(passed.limit());
            try {
                permit = engine.obtain()
                        .acquire(key == null ? passed : engine.obtain().keyed(passed, key));
            } catch (LimitExceededException rejection) {
                boolean isGone = rejection.reason() == Reason.CLIENT_GONE;
                reject(response, isGone ? TO_NOBODY : answer.after(rejection));
                return;
            } catch (InterruptedException interruption) {
                Thread.currentThread().interrupt();
                reject(response, new RejectionAnswer(UNAVAILABLE, answer.retryAfter()));
                return;
            }
        }
        new Passage(permit, by, client).begin(request, response, chain);
    }

    /** Once. The start-up check cannot see on which threads an external container serves requests. */
    private void warnIfFullOnPlatformThread(@Nullable TaskLimit limit) {
        if (limit != null
                && limit.queueCapacity() != 0
                && !limit.isAnyFree()
                && !Thread.currentThread().isVirtual()
                && warned.compareAndSet(false, true)) {
            String message =
                    ("Web requests wait under limit '%s' on platform threads: each holds a thread of the container, and"
                                    + " further requests wait where no limit rejects them. Let the container use virtual threads, or set"
                                    + " %s.queue-capacity to 0.")
                            .formatted(limit.name(), PropertyKeys.limit(limit.name()));
            SafeLog.write(() -> logger.warn(message));
        }
    }

    private @Nullable String key(HttpServletRequest request) {
        Object key = requestKey == null ? null : requestKey.key(request);
        return key == null ? null : key.toString();
    }

    /** Does not call {@code sendError}, because the container would render its error page. */
    private static void reject(HttpServletResponse response, RejectionAnswer answer) {
        response.setStatus(answer.status());
        answer.setRetryAfter(response::setHeader);
        response.setContentLength(0);
    }

    private @Nullable Passage passage(HttpServletRequest request) {
        return (Passage) request.getAttribute(passageAttribute());
    }

    private String passageAttribute() {
        return getAlreadyFilteredAttributeName() + ".PASSAGE";
    }

    /** A request that has been let in. If it is answered asynchronously, the container reports when its answer is complete. */
    private final class Passage implements AsyncListener {

        private final @Nullable HeldPermit permit; // null without a limit
        private final @Nullable Deadline deadline;
        private final @Nullable Client client; // null if calls go on without it
        private volatile boolean over;

        Passage(@Nullable HeldPermit permit, @Nullable Deadline deadline, @Nullable Client client) {
            this.permit = permit;
            this.deadline = deadline;
            this.client = client;
        }

        void begin(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                throws ServletException, IOException {
            WatchedResponse watched = permit == null && client == null ? null : new WatchedResponse(response);
            if (watched != null) {
                watched.onFailedWrite(this::noteIfGone);
            }
            Throwable failure = null;
            try {
                chain.doFilter(request, watched == null ? response : watched);
            } catch (Throwable thrown) {
                failure = thrown;
                throw thrown;
            } finally {
                leave(request, watched, failure);
            }
        }

        private void leave(
                HttpServletRequest request, @Nullable WatchedResponse response, @Nullable Throwable failure) {
            try {
                // Tomcat does not report the end of a request that fails after startAsync()
                if (failure != null || !request.isAsyncStarted()) {
                    close(failure);
                } else {
                    request.setAttribute(passageAttribute(), this);
                    if (response != null) {
                        request.getAsyncContext().addListener(this);
                        // where a client goes away at certain moments, Tomcat 10.1 neither completes the request nor
                        // reports an error
                        cleaner.get().register(this, forgetting(permit, client));
                        response.onFailedWrite(this::broken);
                    }
                }
            } catch (IllegalStateException completed) { // meanwhile: nobody would report the end
                close(null);
            } catch (Throwable shortage) {
                close(shortage);
                throw shortage;
            } finally {
                if (permit != null) {
                    permit.leaveThread();
                }
            }
        }

        /** The action of the cleaner must not know this object. */
        private static Runnable forgetting(@Nullable HeldPermit permit, @Nullable Client client) {
            return () -> {
                if (permit != null) {
                    permit.close(null);
                }
                if (client != null) {
                    client.end();
                }
            };
        }

        /** Another thread goes on with the request. */
        void goOn(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                throws ServletException, IOException {
            HeldPermit held = over ? null : permit;
            if (held != null) {
                held.enterThread();
            }
            try {
                chain.doFilter(request, response);
            } catch (Throwable thrown) {
                close(thrown);
                throw thrown;
            } finally {
                if (held != null) {
                    held.leaveThread();
                }
                if (client != null) {
                    endIfGone(client, request, response);
                }
            }
        }

        /** A failure of another kind is one of the application. */
        private void noteIfGone(@Nullable Throwable failure) {
            if (client != null && failure instanceof IOException) {
                client.calls.clientGone();
            }
        }

        private void broken(@Nullable Throwable failure) {
            if (!over) { // Tomcat reports what an application threw, too
                noteIfGone(failure);
            }
            close(failure);
        }

        private void close(@Nullable Throwable failure) {
            over = true;
            if (client != null) {
                client.end();
            }
            if (permit != null) {
                permit.close(failure);
            }
        }

        @Override
        public void onComplete(AsyncEvent event) {
            close(null);
        }

        /** Where a client has gone away, Tomcat reports the error and may forget the request without completing it. */
        @Override
        public void onError(AsyncEvent event) {
            broken(event.getThrowable());
        }

        /** The container completes the request afterwards: nobody waits for its calls. */
        @Override
        public void onTimeout(AsyncEvent event) {
            if (client != null) {
                client.calls.timedOut(Duration.ofMillis(event.getAsyncContext().getTimeout()));
            }
        }

        /** A new cycle begins without the listeners of the last one. */
        @Override
        public void onStartAsync(AsyncEvent event) {
            try {
                event.getAsyncContext().addListener(this);
            } catch (IllegalStateException completed) {
                close(null);
            }
        }
    }
}
