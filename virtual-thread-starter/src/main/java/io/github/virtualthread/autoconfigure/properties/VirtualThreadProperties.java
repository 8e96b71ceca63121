package io.github.virtualthread.autoconfigure.properties;

import io.github.virtualthread.Internal;
import io.github.virtualthread.cluster.jdbc.TableName;
import io.github.virtualthread.config.SelfInvocation;
import io.github.virtualthread.limit.LimitNumber;
import io.github.virtualthread.limit.LimitSettings.Nested;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.Ordered;

/**
 * Settings of the virtual-thread starter. An unknown key is an error, because a misspelt limit would otherwise be no limit.
 *
 * <p>A start that sets no key binds nothing, and has {@code EngineSettings.DEFAULTS}. A record below this one is bound only if a key
 * of it is set, and otherwise is made with the same defaults by the constructor.
 *
 * @param enabled whether annotated methods are intercepted; otherwise they run on the caller's thread, without limits
 * @param mode how annotated methods are intercepted: by proxies, or by an aspect woven into their classes
 * @param defaultLimit name of the limit for annotated methods that name none
 * @param timeout maximum run time of methods that set none themselves; a body that runs longer is interrupted
 * @param threadNamePrefix prefix of every thread name
 * @param selfInvocation what happens at start-up if a method calls an annotated method of its own object, or if Spring calls
 *     an annotated PostConstruct or PreDestroy method; such a call bypasses the proxy
 * @param callerTrace whether a failure also shows where its call was made, as a suppressed exception
 * @param stuckAfter run time after which a call that is still running is logged, once
 * @param propagation what tasks see of their callers
 * @param limits named concurrency limits, keyed by the name used in the annotation
 * @param cluster how limits with cluster-permits are shared by all replicas
 * @param methods values that replace attributes of annotations, keyed by class and method as in com.acme.Mailer.send
 * @param saturation warnings about limits that stay full
 * @param pinning recording of virtual threads that block their carrier thread
 * @param observation observations of runs, which become spans and timers
 * @param health health of the limits
 * @param endpoint what the endpoint virtualthreads shows
 * @param web limit and deadline of web requests, and answers to those that were rejected
 * @param jdbc what happens to the statements of a call that is stopped
 * @param client requests that calls send to other services
 * @param async executors of Spring that become executors of limits
 * @param shutdown what happens to calls when the application stops
 */
@Internal
@Lazy
@ConfigurationProperties(prefix = "virtual-thread", ignoreUnknownFields = false)
public record VirtualThreadProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue("proxy") AdviceMode mode,
        @Nullable String defaultLimit,
        @Nullable Duration timeout,
        @DefaultValue("vt-") String threadNamePrefix,
        @DefaultValue("warn") SelfInvocation selfInvocation,
        @DefaultValue("false") boolean callerTrace,
        @Nullable Duration stuckAfter,
        Propagation propagation,
        @DefaultValue Map<String, Limit> limits,
        Cluster cluster,
        @DefaultValue Map<String, Method> methods,
        Saturation saturation,
        Pinning pinning,
        Observation observation,
        Health health,
        Endpoint endpoint,
        Web web,
        Jdbc jdbc,
        Client client,
        Async async,
        Shutdown shutdown) {

    /** Created by Spring Boot, with null for what has no key. */
    public VirtualThreadProperties {
        propagation = propagation == null ? new Propagation(true, List.of(), true) : propagation;
        cluster = cluster == null ? Cluster.DEFAULTS : cluster;
        saturation = saturation == null ? new Saturation(Duration.ofSeconds(10)) : saturation;
        pinning = pinning == null ? new Pinning(false, Duration.ofMillis(20)) : pinning;
        observation = observation == null ? new Observation(false) : observation;
        health = health == null ? new Health(null) : health;
        endpoint = endpoint == null ? new Endpoint(List.of(), false, false) : endpoint;
        web = web == null ? Web.DEFAULTS : web;
        jdbc = jdbc == null ? new Jdbc(false) : jdbc;
        client = client == null ? new Client(null, List.of()) : client;
        async = async == null ? new Async(null, Map.of()) : async;
        shutdown = shutdown == null ? new Shutdown(Duration.ofSeconds(30)) : shutdown;
    }

    /**
     * What tasks see of their callers.
     *
     * @param mdc whether tasks see the MDC of their caller
     * @param mdcKeys keys of the MDC to propagate; all keys if empty
     * @param context whether thread-locals registered with Micrometer's context-propagation are propagated, if it is on the
     *     classpath
     */
    public record Propagation(
            @DefaultValue("true") boolean mdc,
            @DefaultValue List<String> mdcKeys,
            @DefaultValue("true") boolean context) {}

    /**
     * One limit. What is not set is null, because two spellings of one name are two records, which are merged.
     *
     * @param permits maximum number of concurrent calls in this JVM, at least 1; as many as cluster-permits if only these are set
     * @param permitsFrom name of a DataSource bean whose pool size is the number of permits, or of a PermitsSource bean that
     *     returns it; replaces permits
     * @param headroom connections of the pool that are left for others; with permits-from only
     * @param within name of the limit around this one: a call needs a permit of both. No other limit if not set
     * @param permitsPerKey maximum number of concurrent calls with the same key, at least 1. Unbounded if not set
     * @param queueCapacity maximum number of waiting calls; a further call is rejected at once. Unbounded if not set
     * @param queueCapacityPerKey maximum number of waiting calls with the same key, at least 0; a further call with that key
     *     is rejected at once. Unbounded if not set
     * @param keyWeights how many calls of a key get a permit for each call of a key of weight 1, 0.1 to 10; keyed by the key. All
     *     other keys have weight 1
     * @param maxWait maximum wait for a permit; then the call is rejected. Unbounded if not set
     * @param clusterPermits maximum number of concurrent calls in all replicas of the application together, at least 1. A limit of
     *     this JVM alone if not set
     * @param onFailure what calls do while no engine lends permits: run under this replica's part of them, wait, or be rejected;
     *     with cluster-permits only. As cluster.on-failure says if not set
     * @param rejectHopeless whether a call waits for at most half of what was left before its deadline when it was made. False if
     *     not set; a limit with adapt does so in any case
     * @param adapt how the limit finds its number of permits, beginning with permits; the number stays if not set
     * @param dryRun whether the limit only watches: all calls begin at once, and the endpoint shows what would have happened
     *     otherwise. False if not set
     * @param nested what happens to a call that returns a future, from a body that holds the same limit, or one around it, if
     *     no permit is free. A warning is logged if not set
     */
    public record Limit(
            @Nullable Integer permits,
            @Nullable String permitsFrom,
            @Nullable Integer headroom,
            @Nullable String within,
            @Nullable Integer permitsPerKey,
            @Nullable Integer queueCapacity,
            @Nullable Integer queueCapacityPerKey,
            @Nullable Map<String, Double> keyWeights,
            @Nullable Duration maxWait,
            @Nullable Integer clusterPermits,
            @Nullable OnFailure onFailure,
            @Nullable Boolean rejectHopeless,
            @Nullable Adapt adapt,
            @Nullable Boolean dryRun,
            @Nullable Nested nested) {

        /** Null if it is not set. */
        @Nullable
        Object value(LimitNumber number) {
            return switch (number) {
                case PERMITS -> permits;
                case PERMITS_FROM -> permitsFrom;
                case HEADROOM -> headroom;
                case WITHIN -> within;
                case PERMITS_PER_KEY -> permitsPerKey;
                case QUEUE_CAPACITY -> queueCapacity;
                case QUEUE_CAPACITY_PER_KEY -> queueCapacityPerKey;
                case KEY_WEIGHTS -> keyWeights;
                case MAX_WAIT -> maxWait;
                case CLUSTER_PERMITS -> clusterPermits;
                case ON_FAILURE -> onFailure;
                case REJECT_HOPELESS -> rejectHopeless;
                case ADAPT -> adapt;
                case DRY_RUN -> dryRun;
                case NESTED -> nested;
            };
        }
    }

    /**
     * How a limit finds its number of permits. It needs all three.
     *
     * @param least lowest number of permits, at least 1
     * @param most highest number of permits
     * @param runTime time that at least half of the runs should not exceed: 1.5 times what a run takes while the resource is idle
     */
    public record Adapt(
            @Nullable Integer least,
            @Nullable Integer most,
            @Nullable Duration runTime) {}

    /**
     * How limits with cluster-permits are shared by all replicas of the application.
     *
     * @param engine what lends permits to the replicas. If not set, the one whose connection is a bean, redis where both are; a bean
     *     of type ClusterStore replaces it
     * @param lease how long permits are lent, at least 1s and ten beats; those of a replica that dies are free for others
     *     afterwards
     * @param beat time between two exchanges with the engine while calls run or wait, at least 10ms. Without it 100ms, 500ms with a
     *     database
     * @param onFailure what calls do while no engine lends permits: run under this replica's part of them, which needs replicas, wait,
     *     or be rejected
     * @param name name that all replicas have, and no other application of the same engine. spring.application.name if not set
     * @param member name of this replica, to which random characters are appended. The name of the host if not set
     * @param replicas most replicas that run at once. Without the engine each uses an equal part of the permits, which the engine keeps
     *     free for it. If not set, on-failure must be wait or reject
     * @param jdbc the engine jdbc
     */
    @Internal // for what is nested in it
    public record Cluster(
            @Nullable Engine engine,
            @DefaultValue("10s") Duration lease,
            @Nullable Duration beat,
            @DefaultValue("local-share") OnFailure onFailure,
            @Nullable String name,
            @Nullable String member,
            @Nullable Integer replicas,
            Table jdbc) {

        static final Cluster DEFAULTS = new Cluster(
                null, Duration.ofSeconds(10), null, OnFailure.LOCAL_SHARE, null, null, null, Table.DEFAULTS);

        /** Created by Spring Boot, with null for what has no key. */
        public Cluster {
            jdbc = jdbc == null ? Table.DEFAULTS : jdbc;
        }

        /** What lends permits to the replicas. */
        public enum Engine {
            /** Redis, by the application's connection. */
            REDIS,
            /** The database of the application. */
            JDBC,
            /** Nothing: a limit with cluster-permits fails the start. */
            NONE
        }

        /**
         * The engine jdbc.
         *
         * @param initializeSchema when the table is created at start: if the database is embedded, always, or never
         * @param table name of the table, with its schema if wanted, as in app.virtual_thread_limit; the same in all replicas
         */
        public record Table(
                @DefaultValue("embedded") InitializeSchema initializeSchema,
                @DefaultValue(TableName.DEFAULT) String table) {

            static final Table DEFAULTS = new Table(InitializeSchema.EMBEDDED, TableName.DEFAULT);
        }

        /** When the table is created at start. */
        public enum InitializeSchema {
            /** If the database is embedded. */
            EMBEDDED,
            /** In every database. */
            ALWAYS,
            /** Never. */
            NEVER
        }
    }

    /**
     * Values that replace attributes of one annotation.
     *
     * @param limit name of the limit; none for no limit
     * @param timeout maximum run time; a body that runs longer is interrupted
     * @param deadline maximum time from the submission of a call, for its wait and its run together; with Limited it bounds
     *     the wait, and the calls that the method makes
     */
    public record Method(
            @Nullable String limit,
            @Nullable Duration timeout,
            @Nullable Duration deadline) {}

    /**
     * Warnings about limits that stay full.
     *
     * @param warnAfter time for which a limit must be full before a warning is logged; zero for no warning
     */
    public record Saturation(@DefaultValue("10s") Duration warnAfter) {}

    /**
     * Recording of virtual threads that block their carrier thread.
     *
     * @param enabled whether pins are recorded, by the JVM's flight recorder
     * @param threshold duration below which pins are ignored
     */
    public record Pinning(
            @DefaultValue("false") boolean enabled,
            @DefaultValue("20ms") Duration threshold) {}

    /**
     * Observations of runs.
     *
     * @param enabled whether each run is an observation, if Micrometer's observations are on the classpath
     */
    public record Observation(@DefaultValue("false") boolean enabled) {}

    /**
     * Health of the limits.
     *
     * @param saturatedAfter time for which a limit must be full before the application is out of service; if not set, the health
     *     has only limits that all replicas share
     */
    public record Health(@Nullable Duration saturatedAfter) {}

    /**
     * What the endpoint virtualthreads shows.
     *
     * @param mdcKeys keys of the caller's MDC to show for live calls; none if empty
     * @param keys whether the keys of calls are shown, which may be personal data
     * @param sql whether the beginning of the SQL that a call waits for is shown, which may be personal data; needs
     *     jdbc.cancel-statements
     */
    public record Endpoint(
            @DefaultValue List<String> mdcKeys,
            @DefaultValue("false") boolean keys,
            @DefaultValue("false") boolean sql) {}

    /**
     * Limit and deadline of web requests, and answers to those that were rejected or have timed out.
     *
     * @param limit name of the limit at the door: each servlet request takes a permit of it. No limit if not set
     * @param key what the key of a request under this limit is; a bean of type RequestKey replaces it. No key if not set
     * @param deadline time that each servlet request has, for its wait and its answer. No deadline if not set
     * @param exclude path patterns of requests without this limit and deadline, such as /events/**, without the context path;
     *     requests to Actuator and its health groups are always excluded
     * @param order place of this limit among the filters; by default after the filter that observes requests, and before Spring
     *     Security
     * @param rejectedStatus HTTP status of the answer, 400 to 599; none leaves rejected calls to the application, whose own
     *     handlers come first in any case, and answers rejected requests with 503
     * @param timedOutStatus HTTP status of the answer to a request whose call was ended by its timeout or deadline, or was
     *     cancelled, 400 to 599; none leaves these to the application, whose own handlers come first in any case
     * @param retryAfter time after which a client whose request was rejected should try again, sent in whole seconds as
     *     Retry-After; zero for no such header
     * @param deadlineHeader name of the header by which a client says how many milliseconds it waits for the answer, such as
     *     X-Request-Timeout-Ms: it shortens the deadline of its request, and never lengthens it. No header if not set, and for none
     * @param cancelAbandoned whether the calls of a servlet request end once its client has gone: those that wait are rejected, those
     *     that run and return a future are interrupted
     */
    @Internal // for what is nested in it
    public record Web(
            @Nullable String limit,
            @Nullable Key key,
            @Nullable Duration deadline,
            @DefaultValue List<String> exclude,
            @DefaultValue(DEFAULT_ORDER) int order,
            @DefaultValue(DEFAULT_STATUS) String rejectedStatus,
            @DefaultValue(DEFAULT_STATUS) String timedOutStatus,
            @DefaultValue("1s") Duration retryAfter,
            @Nullable String deadlineHeader,
            @DefaultValue("false") boolean cancelAbandoned) {

        static final String DEFAULT_STATUS = "503";

        /** {@code Ordered.HIGHEST_PRECEDENCE + 10}. */
        static final String DEFAULT_ORDER = "-2147483638";

        static final Web DEFAULTS = new Web(
                null,
                null,
                null,
                List.of(),
                Ordered.HIGHEST_PRECEDENCE + 10,
                DEFAULT_STATUS,
                DEFAULT_STATUS,
                Duration.ofSeconds(1),
                null,
                false);

        /** What the key of a request is. */
        public enum Key {
            /** The address of its client. */
            CLIENT_ADDRESS
        }
    }

    /**
     * What happens to the statements of a call that is stopped.
     *
     * @param cancelStatements whether a statement is cancelled in the database when its call is stopped by a timeout, a deadline,
     *     a cancel or the end of the application; otherwise the call is interrupted, which closes the connection while the
     *     database goes on with the statement. For pools of HikariCP
     */
    public record Jdbc(@DefaultValue("false") boolean cancelStatements) {}

    /**
     * Requests that calls send to other services by RestClient, RestTemplate and HTTP interfaces.
     *
     * @param deadlineHeader name of the header that tells the hosts below how many milliseconds are left of the deadline of the
     *     thread, such as X-Request-Timeout-Ms; once the deadline has passed, they get no request. No header if not set, and for none
     * @param deadlineHosts names of the hosts that are told, such as reviews, or *.shop.internal for all names that end so, or *
     *     for all hosts, without scheme and port
     */
    public record Client(
            @Nullable String deadlineHeader, @DefaultValue List<String> deadlineHosts) {}

    /**
     * Limits of Async methods and of executors of the application.
     *
     * @param limit name of the limit of Async methods that name no executor; none for virtual threads without a limit. Nothing
     *     changes if not set
     * @param executors names of limits, or none, by the names of executor beans, whose tasks then run under that limit
     */
    public record Async(
            @Nullable String limit, @DefaultValue Map<String, String> executors) {}

    /**
     * What happens to calls when the application stops.
     *
     * @param awaitTerminationPeriod time that running and waiting calls have to finish
     */
    public record Shutdown(@DefaultValue("30s") Duration awaitTerminationPeriod) {}
}
