package io.github.virtualthread.aop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.aop.Findings.AdvisedMethod;
import io.github.virtualthread.aop.MethodSettings.MethodOverride;
import io.github.virtualthread.execution.Deadline;
import io.github.virtualthread.mistake.Mistake;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.core.annotation.AliasFor;

/** The attribute {@code deadline} of annotated methods: which calls get it. What it does to a call is tested with the engine. */
@Timeout(300)
class MethodDeadlineTests {

    private static final String HERE = MethodDeadlineTests.class.getName() + "$";

    @Test
    void everyKindOfMethodHasADeadlineWhereverItsAnnotationIs() throws Exception {
        try (TestContext context =
                TestContext.with(Map.of("partner.deadline", " PT2H "), null, it -> it.register(Offers.class))) {
            Offers offers = context.getBean(Offers.class);
            CompletableFuture<Optional<Duration>> sent = new CompletableFuture<>();
            offers.send(sent);

            assertLeft(offers.configured(), Duration.ofHours(2));
            assertLeft(offers.ofInterface(), Duration.ofHours(3));
            assertLeft(offers.inTime(), Duration.ofHours(4));
            assertLeft(completedFuture(offers.limited()), Duration.ofHours(5));
            assertLeft(offers.ofTenant("acme"), Duration.ofHours(6));
            assertLeft(sent, Duration.ofHours(7));
            assertThat(context.check().methods())
                    .extracting(AdvisedMethod::name, AdvisedMethod::deadline)
                    .contains(tuple("Offers.configured", Duration.ofHours(2)));
        }
    }

    @Test
    void theSettingsReplaceTheDeadlineOfBothAnnotations() throws Exception {
        MethodOverride anHour = new MethodOverride(null, null, Duration.ofHours(1));
        MethodSettings settings = new MethodSettings(
                null,
                null,
                Map.of(
                        HERE + "Offers.inTime",
                        anHour,
                        HERE + "Offers.limited",
                        anHour,
                        HERE + "Offers.without",
                        anHour));
        try (TestContext context =
                TestContext.withSettings(Map.of("partner.deadline", "2h"), settings, it -> it.register(Offers.class))) {
            Offers offers = context.getBean(Offers.class);

            assertLeft(offers.inTime(), Duration.ofHours(1));
            assertLeft(completedFuture(offers.limited()), Duration.ofHours(1));
            assertLeft(offers.without(), Duration.ofHours(1));
        }
    }

    @Test
    void badDeadlinesFailTheStart() {
        assertThat(TestContext.mistakesOf(Bad.class))
                .filteredOn(mistake -> !mistake.description().contains("cannot be read"))
                .containsExactlyInAnyOrder(
                        mistake("Bad.negative", "@Limited", "must be longer than zero, was '-1s'"),
                        mistake("Bad.zero", "@VirtualThread", "must be longer than zero, was '0s'"),
                        mistake("Bad.text", "@VirtualThread", "must be a duration such as 2s, was 'soon'"),
                        mistake("Bad.number", "@VirtualThread", "must be a duration with its unit, was '2'"));
        assertThat(TestContext.mistakesOf(Bad.class))
                .filteredOn(mistake -> mistake.description().contains("cannot be read"))
                .singleElement()
                .satisfies(mistake -> assertThat(mistake.description())
                        .startsWith("@VirtualThread on " + HERE + "Bad.placeholder cannot be read")
                        .contains("no.such.deadline"));
    }

    @Test
    void bothTimesOfOneMethodMayBeWrong() {
        assertThat(TestContext.mistakesOf(BadTwice.class))
                .containsExactly(
                        new Mistake(
                                HERE
                                        + "BadTwice.send: timeout of @VirtualThread must be a duration such as 2s, was 'later'",
                                "Write a duration such as timeout = \"2s\" or \"500ms\", or remove the attribute."),
                        mistake("BadTwice.send", "@VirtualThread", "must be a duration such as 2s, was 'soon'"));
    }

    private static Mistake mistake(String method, String annotation, String problem) {
        return new Mistake(
                HERE + method + ": deadline of " + annotation + " " + problem,
                "Write a duration such as deadline = \"2s\" or \"500ms\", or remove the attribute.");
    }

    private static void assertLeft(Future<? extends @Nullable Object> call, Duration deadline) throws Exception {
        assertThat((Optional<?>) call.get(120, SECONDS)).hasValueSatisfying(left -> assertThat((Duration) left)
                .isBetween(deadline.minus(Duration.ofMinutes(10)), deadline));
    }

    interface Offering {

        @VirtualThread(deadline = "3h")
        CompletableFuture<Optional<Duration>> ofInterface();
    }

    @Retention(RetentionPolicy.RUNTIME)
    @VirtualThread
    @interface InTime {

        @AliasFor(annotation = VirtualThread.class)
        String deadline() default "4h";
    }

    static class Offers implements Offering {

        @VirtualThread(deadline = "${partner.deadline}")
        public CompletableFuture<Optional<Duration>> configured() {
            return completedFuture(Deadline.remaining());
        }

        @Override
        public CompletableFuture<Optional<Duration>> ofInterface() {
            return completedFuture(Deadline.remaining());
        }

        @InTime
        public CompletableFuture<Optional<Duration>> inTime() {
            return completedFuture(Deadline.remaining());
        }

        @VirtualThread
        public CompletableFuture<Optional<Duration>> without() {
            return completedFuture(Deadline.remaining());
        }

        @Limited(limit = "mail", deadline = "5h")
        public Optional<Duration> limited() {
            return Deadline.remaining();
        }

        @VirtualThread(limit = "mail", deadline = "6h", key = "#tenant")
        public CompletableFuture<Optional<Duration>> ofTenant(String tenant) {
            return completedFuture(Deadline.remaining());
        }

        @VirtualThread(deadline = "7h")
        public void send(CompletableFuture<Optional<Duration>> seen) {
            seen.complete(Deadline.remaining());
        }
    }

    static class Bad {

        @VirtualThread(deadline = "soon")
        void text() {}

        @VirtualThread(deadline = "2")
        void number() {}

        @Limited(limit = "mail", deadline = "-1s")
        void negative() {}

        @VirtualThread(deadline = "0s")
        void zero() {}

        @VirtualThread(deadline = "${no.such.deadline}")
        void placeholder() {}

        @VirtualThread(deadline = "10s")
        void good() {}
    }

    static class BadTwice {

        @VirtualThread(timeout = "later", deadline = "soon")
        void send() {}
    }
}
