package io.github.virtualthread.cluster;

import static io.github.virtualthread.cluster.TestApplication.until;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.cluster.jdbc.JdbcClusterStore;
import io.github.virtualthread.cluster.redis.RedisClusterEngine;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.TaskLimit.ClusterState;
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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
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
            case "permits" -> permits(words.get(1), Integer.parseInt(words.get(2)));
            case "await" -> await(words.get(1), ClusterState.Lending.valueOf(words.get(2)));
            case "exchanges" ->
                awaitExchanges(ClusterShares.Outcome.valueOf(words.get(1)), Integer.parseInt(words.get(2)));
            case "end" -> end();
            default -> throw new IllegalArgumentException(words.get(0));
        };
    }

    /**
     * open SERVER CLUSTER LEASE BEAT REPLICAS LIMIT:PERMITS:CLUSTER_PERMITS:ON_FAILURE...; times in ms; 0 replicas if nobody says how
     * many there are.
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
        List<LimitSettings> limits = words.subList(6, words.size()).stream()
                .map(ReplicaProgram::settings)
                .toList();
        application = new Application(server(words.get(1), words.get(2)), settings, limits);
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

    private static LimitSettings settings(String limit) {
        String[] parts = limit.split(":");
        return LimitSettings.of(parts[0], Integer.parseInt(parts[1]))
                .withClusterPermits(Integer.parseInt(parts[2]))
                .withOnFailure(OnFailure.valueOf(parts[3]));
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
            application().submit(limit, millis);
        }
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
        application().member.limits.get(limit).setClusterPermits(permits);
        return "ok";
    }

    private String await(String limit, ClusterState.Lending lending) {
        TestApplication member = application().member;
        until(() -> member.state(limit).lending() == lending);
        return "share=" + member.limits.get(limit).lent();
    }

    /** From now on. */
    private String awaitExchanges(ClusterShares.Outcome outcome, int more) {
        TestApplication member = application().member;
        int least = member.exchanges(outcome) + more;
        until(() -> member.exchanges(outcome) >= least);
        return "ok";
    }

    /** No more calls; waits until all have ended. */
    private String end() {
        if (application == null) {
            return "done=0 {}";
        }
        Application present = application;
        present.ends = true;
        until(() -> present.ended.get() == present.submitted.get());
        return "done=%d %s"
                .formatted(present.done.sum(), present.failed.toString().replace(" ", ""));
    }

    /** The application, and the calls that its callers make. */
    private final class Application {

        final AtomicLong submitted = new AtomicLong();
        final AtomicLong ended = new AtomicLong();
        final LongAdder done = new LongAdder();
        final Map<String, LongAdder> failed = new ConcurrentHashMap<>();
        volatile boolean ends;
        final TestApplication member;
        private final DisposableBean client;

        Application(Server server, ClusterSettings settings, List<LimitSettings> limits) {
            member = new TestApplication(server.engine(), settings, limits);
            client = server.client();
        }

        /** Calls again when the call has ended. */
        void submit(String limit, int millis) {
            submitted.incrementAndGet();
            member.threads
                    .submit(limit, () -> {
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
                        if (!ends && failure == null) {
                            submit(limit, millis);
                        } else if (!ends) {
                            submitted.incrementAndGet(); // a call that is about to be made is none that has ended
                            member.timer.schedule(
                                    () -> member.timer.handOff(() -> {
                                        submit(limit, millis);
                                        ended.incrementAndGet();
                                    }),
                                    PAUSE);
                        }
                        ended.incrementAndGet();
                    });
        }

        void close() throws Exception {
            ends = true;
            member.close();
            client.destroy();
        }
    }
}
