package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.catalina.core.StandardContext;
import org.springframework.boot.tomcat.TomcatWebServer;
import org.springframework.boot.web.server.context.WebServerApplicationContext;

/** What an experiment with web requests may leave: nothing. Made before it runs. */
final class Leftovers {

    private static final List<String> NAMES = List.of("http-nio-", "lab-users", "flood-");

    private final WebServerApplicationContext context;
    private final Set<Thread> before = threads();

    Leftovers(WebServerApplicationContext context) {
        this.context = context;
    }

    void assertNone() throws InterruptedException {
        TomcatWebServer server = (TomcatWebServer) context.getWebServer();
        assertThat(server.getTomcat().getService().findConnectors()).hasSize(1);
        // else the application would wait for them when it stops; each is counted until its thread is done with its
        // answer
        await().atMost(Duration.ofMinutes(2))
                .untilAsserted(() ->
                        assertThat(context(server).getInProgressAsyncCount()).isZero());
        for (Thread thread : threads()) {
            if (!before.contains(thread)) {
                assertThat(thread.join(Duration.ofMinutes(2)))
                        .as(thread.getName())
                        .isTrue();
            }
        }
    }

    private static StandardContext context(TomcatWebServer server) {
        return (StandardContext) server.getTomcat().getHost().findChildren()[0];
    }

    private static Set<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread ->
                        NAMES.stream().anyMatch(name -> thread.getName().startsWith(name)))
                .collect(Collectors.toSet());
    }
}
