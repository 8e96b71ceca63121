package io.github.virtualthread.sample.lab.experiment;

import io.github.virtualthread.sample.lab.Sampler;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.http.converter.autoconfigure.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.tomcat.autoconfigure.servlet.TomcatServletWebServerAutoConfiguration;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;

/** A web server in a JVM of its own, with nothing but the requests: not the whole sample, to be there soon. */
// shown
@ImportAutoConfiguration({
    TomcatServletWebServerAutoConfiguration.class,
    DispatcherServletAutoConfiguration.class,
    WebMvcAutoConfiguration.class,
    HttpMessageConvertersAutoConfiguration.class
})
@Import(Requests.class)
final class OneCarrierServer {
    // shown

    /** Opens the server, on a new port and without what an earlier one has left to do. Answered with the port. */
    static final String OPEN = "open";

    /** From now on the heap of new objects is watched. */
    static final String WATCH = "watch";

    /** Watched no longer. Answered with the threads that serve requests, and points of milliseconds and bytes. */
    static final String SEEN = "seen";

    private static final String SERVES = PlatformThreads.CARRIERS + "|http-nio-.*-exec-.*";
    private static final MemoryPoolMXBean EDEN = ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(pool -> pool.getName().contains("Eden"))
            .findFirst()
            .orElseThrow(() -> new IllegalStateException("This JVM does not tell how much heap new objects take"));

    private final Queue<String> heap = new ConcurrentLinkedQueue<>();
    private ConfigurableApplicationContext context;
    private Sampler sampler;

    public static void main(String[] args) {
        ChildAnswers.give(new OneCarrierServer()::answer);
    }

    private String answer(String question) {
        return switch (question) {
            case OPEN -> open();
            case WATCH -> watch();
            case SEEN -> seen();
            default -> throw new IllegalArgumentException("Nobody can answer '%s'".formatted(question));
        };
    }

    private String open() {
        if (context != null) {
            context.close();
        }
        context = SpringApplication.run(OneCarrierServer.class);
        return String.valueOf(
                ((WebServerApplicationContext) context).getWebServer().getPort());
    }

    private String watch() {
        heap.clear();
        sampler = Sampler.every(
                Duration.ofMillis(50), seconds -> heap.add("%d:%d".formatted(Math.round(seconds * 1_000), used())));
        return "";
    }

    private static long used() {
        return EDEN.getUsage().getUsed();
    }

    private String seen() {
        sampler.end();
        long serve = PlatformThreads.count(SERVES);
        return serve + " " + String.join(" ", heap);
    }
}
