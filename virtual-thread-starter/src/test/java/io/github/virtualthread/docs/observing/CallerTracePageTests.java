package io.github.virtualthread.docs.observing;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.docs.Pages;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The stack that observing.md shows. */
@Timeout(300)
class CallerTracePageTests {

    private static final Pattern HERE = Pattern.compile(
            "io\\.github\\.virtualthread\\.docs\\.observing\\.CallerTracePageTests\\$(\\w+)\\.(\\w+)\\(\\w+");

    @Test
    void aFailurePrintsTheStackOfItsCallerToo() {
        String page = Pages.block("docs/observing.md", "log", "caller");

        assertThat(withoutNumbers(printed()).lines())
                .containsSubsequence(withoutNumbers(page)
                        .lines()
                        .filter(line -> !line.strip().equals("..."))
                        .toList());
    }

    private static String printed() {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class))
                .withPropertyValues("virtual-thread.caller-trace=true")
                .withBean(Prices.class)
                .withBean(PricePage.class)
                .run(context -> {
                    PricePage page = context.getBean(PricePage.class);
                    Thread request = new Thread(() -> failure.set(page.show()), "http-nio-8080-exec-1");
                    request.start();
                    request.join(5_000);
                });
        StringWriter text = new StringWriter();
        failure.get().printStackTrace(new PrintWriter(text, true));
        return HERE.matcher(text.toString()).replaceAll("com.acme.$1.$2($1");
    }

    private static String withoutNumbers(String stack) {
        // a JVM may have been made without the lines of its own classes
        return stack.replaceAll("(java\\.base/[^(]+)\\([^)]+\\)", "$1").replaceAll(":\\d+\\)", ")");
    }

    static class Prices {

        @VirtualThread
        public CompletableFuture<String> find() throws IOException {
            throw new IOException("partner is down");
        }
    }

    record PricePage(Prices prices) {

        Throwable show() {
            try {
                return prices.find().handle((price, failure) -> failure).join();
            } catch (IOException impossible) {
                throw new AssertionError(impossible);
            }
        }
    }
}
