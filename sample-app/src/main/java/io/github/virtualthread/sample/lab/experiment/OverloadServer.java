package io.github.virtualthread.sample.lab.experiment;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;

/** Web servers in a JVM of their own, so that the processor time of the process is theirs. */
final class OverloadServer {

    /** With the name of a {@link Way} and its settings. Answered with the port of its server. */
    static final String OPEN = "open";

    /** With the same. Whatever the server of that way still does ends. */
    static final String CLOSE = "close";

    /** Answered with the processor time of the JVM so far, in nanoseconds. */
    static final String PROCESSOR = "processor";

    private final Map<Way, DoorServer> servers = new EnumMap<>(Way.class);

    private OverloadServer() {}

    public static void main(String[] args) {
        new SpringApplicationBuilder(OverloadServer.class)
                .web(WebApplicationType.NONE)
                .run(); // sets up the logging
        OverloadServer all = new OverloadServer();
        var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        ChildAnswers.give(question -> {
            String[] words = question.split(" ");
            return switch (words[0]) {
                case OPEN -> all.open(Way.valueOf(words[1]), Setup.parse(words));
                case CLOSE -> all.close(Way.valueOf(words[1]));
                default -> String.valueOf(system.getProcessCpuTime());
            };
        });
    }

    private String open(Way way, Setup setup) {
        FairPool pool = new FairPool(setup.places(), setup.deadline(), setup.work());
        DoorServer.Work work =
                way == Way.BULKHEAD ? new BulkheadPool(pool, setup.places(), setup.bulkheadWait()) : pool;
        DoorServer server = DoorServer.start(work, way != Way.TOMCAT, way.settings(setup));
        servers.put(way, server);
        return String.valueOf(server.port());
    }

    private String close(Way way) {
        servers.remove(way).close();
        return "closed";
    }

    /** What decides which requests reach the pool. */
    enum Way {
        NO_LIMIT("no limit"),
        DEADLINE("limit with a deadline"),
        LONG_QUEUE("the same, queue twice too long"),
        HOPELESS("the same, reject-hopeless"),
        BULKHEAD("Resilience4j's bulkhead"),
        TOMCAT("Tomcat's own threads");

        private final String label;

        Way(String label) {
            this.label = label;
        }

        String label() {
            return label;
        }

        Map<String, Object> settings(Setup setup) {
            return switch (this) {
                case NO_LIMIT, BULKHEAD -> Map.of();
                case TOMCAT -> Map.of("server.tomcat.threads.max", setup.places());
                case DEADLINE -> setup.limit(Map.of());
                case LONG_QUEUE -> setup.limit(Map.of("virtual-thread.limits.web.queue-capacity", setup.longQueue()));
                case HOPELESS -> setup.limit(Map.of("virtual-thread.limits.web.reject-hopeless", true));
            };
        }
    }

    /**
     * What all servers have in common.
     *
     * @param bulkheadMillis longest that a request waits for the bulkhead
     */
    record Setup(int places, int workMillis, int deadlineMillis, int bulkheadMillis) {

        static Setup parse(String[] words) {
            return new Setup(
                    Integer.parseInt(words[2]),
                    Integer.parseInt(words[3]),
                    Integer.parseInt(words[4]),
                    Integer.parseInt(words[5]));
        }

        /** A question about such a server. */
        String question(String what, Way way) {
            return "%s %s %d %d %d %d".formatted(what, way, places, workMillis, deadlineMillis, bulkheadMillis);
        }

        Duration work() {
            return Duration.ofMillis(workMillis);
        }

        Duration deadline() {
            return Duration.ofMillis(deadlineMillis);
        }

        Duration bulkheadWait() {
            return Duration.ofMillis(bulkheadMillis);
        }

        /** Requests of that part of what the pool can do. */
        long perSecond(int percent) {
            return 10L * percent * places / workMillis;
        }

        /** Whose last request begins when its deadline has passed. */
        int longQueue() {
            return (int) ((long) places * deadlineMillis / workMillis);
        }

        /** At the door, which wants a bound of the wait: it is the deadline. */
        private Map<String, Object> limit(Map<String, Object> more) {
            Map<String, Object> settings = new HashMap<>(more);
            settings.put("virtual-thread.web.limit", "web");
            settings.put("virtual-thread.web.deadline", deadlineMillis + "ms");
            settings.put("virtual-thread.limits.web.permits", places);
            settings.put("virtual-thread.limits.web.max-wait", deadlineMillis + "ms");
            return settings;
        }
    }
}
