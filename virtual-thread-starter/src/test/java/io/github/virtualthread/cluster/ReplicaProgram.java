package io.github.virtualthread.cluster;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.cluster.jdbc.JdbcClusterStore;
import io.github.virtualthread.cluster.redis.RedisClusterEngine;
import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.execution.CallExtensions;
import io.github.virtualthread.execution.Calls;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskThreads;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.ClusterState;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.timer.TaskTimer;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.context.Lifecycle;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * A replica, in a JVM of its own that {@link Replica} starts. Does what it reads, a command a line, and answers each with a line. Its
 * calls are calls of {@link Resource}.
 */
final class ReplicaProgram {

    /** Begins each answer; all other lines are of the log. */
    static final String ANSWER = "> ";

    private static final long PATIENCE = TimeUnit.MINUTES.toNanos(4);
    private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(5); // of a caller whose call was refused

    private final int id;
    private final int resource;
    private final ConcurrentLinkedDeque<Socket> connections = new ConcurrentLinkedDeque<>();
    private @Nullable Application application;

    private ReplicaProgram(int id, int resource) {
        this.id = id;
        this.resource = resource;
    }

    /** Arguments: number of the replica, port of the resource. */
    public static void main(String[] args) throws IOException {
        LoggingSystem.get(ReplicaProgram.class.getClassLoader()).setLogLevel("ROOT", LogLevel.INFO);
        new ReplicaProgram(Integer.parseInt(args[0]), Integer.parseInt(args[1])).run();
        Runtime.getRuntime().halt(0);
    }

    private void run() throws IOException {
        answer("ready");
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            try {
                answer(obey(List.of(line.split(" "))));
            } catch (Exception | Error wrong) {
                LoggerFactory.getLogger(ReplicaProgram.class).error("{}", line, wrong);
                answer("failed: " + wrong);
            }
        }
    }

    private static void answer(String text) {
        System.out.println(ANSWER + text);
        System.out.flush();
    }

    private String obey(List<String> words) throws Exception {
        return switch (words.get(0)) {
            case "open" -> open(words);
            case "load" -> load(words.get(1), Integer.parseInt(words.get(2)), Integer.parseInt(words.get(3)));
            case "rate" -> rate(words.get(1), Integer.parseInt(words.get(2)), Integer.parseInt(words.get(3)));
            case "measure" -> measure();
            case "permits" -> permits(words.get(1), Integer.parseInt(words.get(2)));
            case "await" -> await(words.get(1), ClusterState.Lending.valueOf(words.get(2)));
            case "lent" -> awaitLent(words.get(1), Integer.parseInt(words.get(2)), Integer.parseInt(words.get(3)));
            case "exchanges" ->
                awaitExchanges(ClusterShares.Outcome.valueOf(words.get(1)), Integer.parseInt(words.get(2)));
            case "refused" -> awaitRefused(words.get(1));
            case "end" -> end();
            default -> throw new IllegalArgumentException(words.get(0));
        };
    }

    /**
     * open SERVER CLUSTER LEASE BEAT REPLICAS LIMIT:PERMITS:CLUSTER_PERMITS:ON_FAILURE...; times in ms; 0 if there are no cluster permits,
     * or nobody says how many replicas there are.
     */
    private String open(List<String> words) throws Exception {
        if (application != null) {
            application.close();
        }
        ClusterSettings settings = new ClusterSettings(
                "replica-" + id,
                Duration.ofMillis(Long.parseLong(words.get(3))),
                Duration.ofMillis(Long.parseLong(words.get(4))),
                OnFailure.LOCAL_SHARE,
                words.get(5).equals("0") ? null : Integer.valueOf(words.get(5)));
        application = new Application(server(words.get(1), words.get(2)), settings, words.subList(6, words.size()));
        return "ok";
    }

    /** What lends, and how its client is closed. */
    private record Server(ClusterEngine engine, DisposableBean client) {}

    /** {@code lettuce:PORT}, {@code jedis:PORT}, {@code sentinel:PORT}, {@code cluster:PORT}, or a URL of JDBC. */
    private static Server server(String address, String cluster) throws Exception {
        if (address.startsWith("jdbc:")) {
            HikariDataSource pool = new HikariDataSource();
            pool.setJdbcUrl(address);
            pool.setMaximumPoolSize(2);
            JdbcClusterStore store = new JdbcClusterStore(pool, cluster);
            store.initialize();
            return new Server(new StoredLimits(store), pool::close);
        }
        String[] parts = address.split(":");
        RedisConnectionFactory connections = connections(parts[0], Integer.parseInt(parts[1]));
        return new Server(new RedisClusterEngine(connections, cluster), (DisposableBean) connections);
    }

    private static RedisConnectionFactory connections(String client, int port) throws Exception {
        RedisStandaloneConfiguration single = new RedisStandaloneConfiguration("127.0.0.1", port);
        Set<String> nodes = Set.of("127.0.0.1:" + port);
        RedisConnectionFactory connections =
                switch (client) {
                    case "jedis" -> new JedisConnectionFactory(single);
                    case "sentinel" -> new LettuceConnectionFactory(new RedisSentinelConfiguration("main", nodes));
                    case "cluster" ->
                        new LettuceConnectionFactory(new RedisClusterConfiguration(nodes), findsNewMasters());
                    default -> new LettuceConnectionFactory(single);
                };
        ((InitializingBean) connections).afterPropertiesSet();
        ((Lifecycle) connections).start();
        return connections;
    }

    /** As with {@code spring.data.redis.lettuce.cluster.refresh.adaptive}: otherwise it asks a master that has died for ever. */
    private static LettuceClientConfiguration findsNewMasters() {
        return LettuceClientConfiguration.builder()
                .clientOptions(ClusterClientOptions.builder()
                        .topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
                                .enableAllAdaptiveRefreshTriggers()
                                .adaptiveRefreshTriggersTimeout(Duration.ofSeconds(1)) // not 30
                                .build())
                        .build())
                .build();
    }

    private LimitSettings settings(String limit) {
        String[] parts = limit.split(":");
        LimitSettings settings = LimitSettings.of(parts[0], Integer.parseInt(parts[1]));
        int permits = Integer.parseInt(parts[2]);
        return permits == 0
                ? settings
                : settings.withClusterPermits(permits).withOnFailure(OnFailure.valueOf(parts[3]));
    }

    private Application application() {
        if (application == null) {
            throw new IllegalStateException("open comes first");
        }
        return application;
    }

    /** So many callers, each of which calls again when its call has ended. */
    private String load(String limit, int callers, int millis) {
        for (int i = 0; i < callers; i++) {
            application().submit(limit, millis, true);
        }
        return "ok";
    }

    /** So many calls in a second, at random. */
    private String rate(String limit, int calls, int millis) {
        Application present = application();
        present.submitted.incrementAndGet(); // until it makes no more calls
        Thread.ofPlatform().daemon().start(() -> {
            long next = System.nanoTime();
            while (!present.ends) {
                next += (long) (-Math.log(1 - ThreadLocalRandom.current().nextDouble()) * 1e9 / calls);
                while (next - System.nanoTime() > 0) {
                    LockSupport.parkNanos(next - System.nanoTime());
                }
                present.submit(limit, millis, false);
            }
            present.ended.incrementAndGet();
        });
        return "ok";
    }

    private static String reason(Throwable failure) {
        return failure instanceof LimitExceededException exceeded
                ? exceeded.reason().toString()
                : failure.toString().replace(' ', '_');
    }

    /** The connections are not closed: what has begun goes on. */
    private void use(String limit, int millis) throws IOException {
        Socket connection = connections.pollFirst();
        if (connection == null) {
            connection = new Socket(InetAddress.getLoopbackAddress(), resource);
            connection.setTcpNoDelay(true);
        }
        connection
                .getOutputStream()
                .write(new byte[] {(byte) id, (byte) limit.charAt(0), (byte) (millis >> 8), (byte) millis});
        if (connection.getInputStream().read() < 0) {
            throw new IOException("the resource has closed the connection");
        }
        connections.addFirst(connection);
    }

    private String permits(String limit, int permits) {
        application().limits.get(limit).setClusterPermits(permits);
        return "ok";
    }

    /** Waits are counted from now on. */
    private String measure() {
        application().waits.clear();
        return "ok";
    }

    private String await(String limit, ClusterState.Lending lending) {
        await(() -> cluster(limit).lending() == lending);
        return state(limit);
    }

    /** So many other replicas have told of themselves, and so many permits are lent to them at most. */
    private String awaitLent(String limit, int others, int most) {
        await(() -> others(limit).size() == others && holds(limit) <= most);
        return state(limit);
    }

    private List<TaskLimit.Member> others(String limit) {
        return cluster(limit).members().stream()
                .filter(member -> !member.name().startsWith("replica-" + id))
                .toList();
    }

    private int holds(String limit) {
        return others(limit).stream().mapToInt(TaskLimit.Member::holds).sum();
    }

    /** From now on. */
    private String awaitExchanges(ClusterShares.Outcome outcome, int more) {
        AtomicIntegerArray exchanges = application().exchanges;
        int least = exchanges.get(outcome.ordinal()) + more;
        await(() -> exchanges.get(outcome.ordinal()) >= least);
        return "ok";
    }

    /** Makes calls until one is refused. */
    private String awaitRefused(String limit) {
        Application present = application();
        await(() -> {
            present.submit(limit, 1, false);
            return present.failed.containsKey("NO_LEASE");
        });
        return "ok";
    }

    private void await(BooleanSupplier condition) {
        long begin = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - begin > PATIENCE) {
                throw new IllegalStateException("not seen within " + Duration.ofNanos(PATIENCE) + ", with "
                        + application().submitted + " calls submitted and " + application().ended + " ended");
            }
            LockSupport.parkNanos(PAUSE);
        }
    }

    private ClusterState cluster(String limit) {
        ClusterState state = application().limits.get(limit).cluster();
        if (state == null) {
            throw new IllegalStateException(limit + " is not shared");
        }
        return state;
    }

    private String state(String limit) {
        TaskLimit known = application().limits.get(limit);
        ClusterState state = cluster(limit);
        return "lending=%s share=%d inUse=%d waiting=%d members=%d others=%d"
                .formatted(
                        state.lending(),
                        known.lent(),
                        known.inUse(),
                        known.waiting(),
                        state.members().size(),
                        holds(limit));
    }

    /** No more calls; waits until all have ended. */
    private String end() {
        if (application == null) {
            return "open=0 {}";
        }
        Application present = application;
        present.ends = true;
        await(() -> present.ended.get() == present.submitted.get());
        long[] sorted =
                present.waits.stream().mapToLong(Long::longValue).sorted().toArray();
        return "open=%d done=%d p50=%d p99=%d %s"
                .formatted(
                        present.submitted.get() - present.ended.get(),
                        present.done.sum(),
                        quantile(sorted, 0.5),
                        quantile(sorted, 0.99),
                        present.failed.toString().replace(" ", ""));
    }

    /** In microseconds. */
    private static long quantile(long[] sorted, double quantile) {
        return sorted.length == 0 ? 0 : sorted[(int) (quantile * (sorted.length - 1))] / 1_000;
    }

    /** All that an application has, without Spring. */
    private final class Application implements AutoCloseable {

        final AtomicLong submitted = new AtomicLong();
        final AtomicLong ended = new AtomicLong();
        final LongAdder done = new LongAdder();
        final Map<String, LongAdder> failed = new ConcurrentHashMap<>();
        final ConcurrentLinkedQueue<Long> waits = new ConcurrentLinkedQueue<>();
        final AtomicIntegerArray exchanges = new AtomicIntegerArray(ClusterShares.Outcome.values().length);
        volatile boolean ends;
        final TaskTimer timer = new TaskTimer("timer");
        final TaskLimits limits;
        final ClusterShares shares;
        final Server server;
        final VirtualThreads threads;

        Application(Server server, ClusterSettings settings, List<String> limits) {
            this.server = server;
            this.limits = new TaskLimits(
                    limits.stream().map(ReplicaProgram.this::settings).toList(), timer, change -> {});
            shares = new ClusterShares(server::engine, settings, timer);
            shares.listen(new ClusterShares.Listener() {
                @Override
                public void exchanged(Duration took, ClusterShares.Outcome outcome) {
                    exchanges.incrementAndGet(outcome.ordinal());
                }

                @Override
                public void lost() {}
            });
            this.limits.all().stream()
                    .filter(limit -> limit.clusterPermits() != null)
                    .forEach(shares::add);
            shares.start();
            TaskEngine tasks = new TaskEngine(
                    this.limits,
                    ContextPropagation.none(),
                    timer,
                    new TaskThreads("vt-", ReplicaProgram.class.getClassLoader()),
                    CallExtensions.NONE,
                    false);
            threads = Calls.byHand(tasks, (spec, failure) -> {});
        }

        void submit(String limit, int millis, boolean again) {
            submitted.incrementAndGet();
            long at = System.nanoTime();
            threads.submit(limit, () -> {
                        waits.add(System.nanoTime() - at);
                        use(limit, millis);
                        return null;
                    })
                    .whenComplete((nothing, failure) -> {
                        if (failure == null) {
                            done.increment();
                        } else {
                            failed.computeIfAbsent(reason(failure), reason -> new LongAdder())
                                    .increment();
                        }
                        if (again && !ends && failure == null) {
                            submit(limit, millis, true);
                        } else if (again && !ends) {
                            submitted.incrementAndGet(); // a call that is about to be made is none that has ended
                            timer.schedule(
                                    () -> timer.handOff(() -> {
                                        submit(limit, millis, true);
                                        ended.incrementAndGet();
                                    }),
                                    PAUSE);
                        }
                        ended.incrementAndGet();
                    });
        }

        @Override
        public void close() throws Exception {
            ends = true;
            shares.stop();
            timer.close();
            server.client().destroy();
        }
    }
}
