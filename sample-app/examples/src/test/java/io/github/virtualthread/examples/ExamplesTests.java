package io.github.virtualthread.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.Occupation;
import io.github.virtualthread.limit.TaskLimits;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

/** Each example does what its page says. */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(300)
@Tag("slow")
class ExamplesTests {

    private final HttpClient client = HttpClient.newHttpClient();

    @Test
    void queriesFailWithoutALimitAndNotWithPermitsFromTheirPool() {
        run("database", app -> {
            assertThat(app.answer("/limited").body()).matches("60 queries: 60 done, 0 failed, \\d+ ms\n");
            assertThat(app.answer("/unlimited").body())
                    .matches("60 queries: [1-9]\\d* done, [1-9]\\d* failed, \\d+ ms\n");
        });
    }

    @Test
    void moreCallsThanThePartnerTakesWaitOrAreAnswered503(CapturedOutput output) {
        run("partner", app -> {
            assertThat(app.answer("/reviews/1").body()).isEqualTo("Product 1 is good.\n");

            List<HttpResponse<String>> answers;
            try (Occupation busy = app.limit("partner").occupy()) { // by other calls, and for longer than a call waits
                var asked = IntStream.rangeClosed(1, 10)
                        .mapToObj(product -> app.ask("/reviews/" + product))
                        .toList();
                answers = asked.stream().map(CompletableFuture::join).toList();
            }

            assertThat(answers).allSatisfy(answer -> {
                assertThat(answer.statusCode()).isEqualTo(503);
                assertThat(answer.headers().firstValue("Retry-After")).hasValue("1");
            });
            assertThat(output).contains("Limit 'partner' has rejected a call: Partner.review was rejected (");
        });
    }

    @Test
    void usersTakeTurnsAndTheLogSaysHowLongTheyHaveWaited(CapturedOutput output) {
        run("model", app -> {
            List<CompletableFuture<HttpResponse<String>>> ann;
            CompletableFuture<HttpResponse<String>> bob;
            try (Occupation busy = app.limit("model").occupy()) {
                ann = Stream.generate(() -> app.ask("/chat/ann")).limit(5).toList();
                await().atMost(Duration.ofMinutes(2))
                        .until(() -> app.limit("model").waiting() == 4 && answered(ann) == 1);
                bob = app.ask("/chat/bob");
                await().atMost(Duration.ofMinutes(2))
                        .until(() -> app.limit("model").waiting() == 5);
            }

            assertThat(bob.join().body()).isEqualTo("That is a good question. I do not know the answer.\n ");
            assertThat(ann.stream().map(CompletableFuture::join).map(HttpResponse::statusCode))
                    .containsOnly(200, 503)
                    .containsOnlyOnce(503);
            List<String> waits = found("(ann|bob) waited \\d+ ms for a slot", output.getOut());
            assertThat(waits).containsExactlyInAnyOrder("ann", "ann", "ann", "ann", "bob");
            assertThat(waits)
                    .as("bob came last, and not after all of ann")
                    .last()
                    .isEqualTo("ann");
        });
    }

    @Test
    void noUserForgesALineOfTheLog(CapturedOutput output) {
        run("model", app -> assertThat(List.of("ann%0AWARN", "ann%1B%5B2K", "ann%E2%80%A8WARN", "a".repeat(51)))
                .allSatisfy(user ->
                        assertThat(app.answer("/chat/" + user).statusCode()).isEqualTo(404)));

        assertThat(output.getOut()).doesNotContain("\nWARN", "\u001b[2K", "\u2028", "for a slot");
    }

    @Test
    void thePageStartsEachOfThemAndAsksForWhatTheyServe() throws IOException {
        String page = Files.readString(Path.of("README.md"));

        assertThat(found("(?m)^mvn spring-boot:run -Dexample=(\\w+)$", page))
                .containsExactlyInAnyOrder("database", "partner", "model");
        assertThat(found("localhost:8080(/\\w+)", page)).containsOnly("/limited", "/unlimited", "/reviews", "/chat");
    }

    private static long answered(List<CompletableFuture<HttpResponse<String>>> answers) {
        return answers.stream().filter(CompletableFuture::isDone).count();
    }

    private void run(String example, Consumer<Example> test) {
        SpringApplication.Running running = SpringApplication.from(
                        args -> main(example).invoke(null, (Object) args))
                .run("--server.port=0");
        try (ConfigurableApplicationContext context = running.getApplicationContext()) {
            assertThat(context.getEnvironment().getProperty("server.address", InetAddress.class))
                    .matches(InetAddress::isLoopbackAddress);
            test.accept(new Example(context, client));
        }
    }

    /** The one that mvn spring-boot:run -Dexample=... would start. */
    private static Method main(String example) throws ReflectiveOperationException {
        return Class.forName("io.github.virtualthread.examples." + example + ".Application")
                .getMethod("main", String[].class);
    }

    private static List<String> found(String pattern, String text) {
        return Pattern.compile(pattern)
                .matcher(text)
                .results()
                .map((MatchResult match) -> match.group(1))
                .toList();
    }

    /** An example that runs. */
    private record Example(ConfigurableApplicationContext context, HttpClient client) {

        TaskLimit limit(String name) {
            return context.getBean(TaskLimits.class).get(name);
        }

        HttpResponse<String> answer(String path) {
            return ask(path).join();
        }

        CompletableFuture<HttpResponse<String>> ask(String path) {
            String origin = "http://localhost:" + context.getEnvironment().getProperty("local.server.port");
            return client.sendAsync(
                    HttpRequest.newBuilder(URI.create(origin + path)).build(), BodyHandlers.ofString());
        }
    }
}
