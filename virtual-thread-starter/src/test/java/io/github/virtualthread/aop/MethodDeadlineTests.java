package io.github.virtualthread.aop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.aop.Findings.AdvisedMethod;
import io.github.virtualthread.aop.MethodSettings.MethodOverride;
import io.github.virtualthread.execution.Deadline;
import io.github.virtualthread.limit.CallTimeoutException;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.KeyUse;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.timer.TaskTimer;
import io.github.virtualthread.timer.TimerEntries;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.core.annotation.AliasFor;

/** The attribute {@code deadline} of annotated methods. */
@Timeout(value = 300, threadMode = ThreadMode.SEPARATE_THREAD) // a call that waits for a permit on and on
class MethodDeadlineTests {

    private static final String HERE = MethodDeadlineTests.class.getName() + "$";

    @Test
    void aCallThatWaitsUntilItsDeadlineNeverRuns() throws Exception {
        try (TestContext context = TestContext.of(Partner.class);
                Held held = new Held(context)) {
            AtomicBoolean ran = new AtomicBoolean();

            assertThat(failure(held.partner.quote(() -> ran.getAndSet(true))))
                    .isInstanceOfSatisfying(LimitExceededException.class, refusal -> assertThat(refusal.reason())
                            .isEqualTo(Reason.DEADLINE))
                    .hasMessageStartingWith("Partner.quote was rejected (DEADLINE)");
            assertThat(held.mail.waiting()).isZero();
            assertThat(ran).isFalse();
        }
    }

    @Tag("slow")
    @Test
    void aBodyThatRunsUntilItsDeadlineIsInterrupted() throws Exception {
        try (TestContext context = TestContext.of(Partner.class)) {
            CountDownLatch interrupted = new CountDownLatch(1);

            assertThat(failure(context.getBean(Partner.class).order(() -> {
                        try {
                            return forEver();
                        } finally {
                            interrupted.countDown();
                        }
                    })))
                    .isInstanceOf(CallTimeoutException.class)
                    .hasMessageStartingWith("Partner.order ran past its deadline of 2s");
            assertThat(interrupted.await(120, SECONDS)).isTrue();
        }
    }

    @Test
    void aLimitedMethodWaitsUntilItsDeadline() throws Exception {
        try (TestContext context = TestContext.of(Partner.class);
                Held held = new Held(context)) {
            assertThatThrownBy(() -> held.partner.limited(() -> "never"))
                    .isInstanceOfSatisfying(LimitExceededException.class, refusal -> assertThat(refusal.reason())
                            .isEqualTo(Reason.DEADLINE))
                    .hasMessageStartingWith("Partner.limited was rejected (DEADLINE)");
            assertThat(held.mail.waiting()).isZero();
        }
    }

    /** The body runs on, and only what it calls is bounded. */
    @Test
    @Tag("slow")
    void aLimitedMethodIsNotInterruptedAndWhatItCallsHasWhatIsLeft() throws Exception {
        try (TestContext context = TestContext.of(Partner.class)) {
            Partner partner = context.getBean(Partner.class);

            Object value = partner.limitedOrder(() -> {
                while (Deadline.remaining().orElseThrow().isPositive()) {
                    Thread.onSpinWait();
                }
                assertThat(failure(partner.inherited(() -> "never")))
                        .hasMessageStartingWith("Partner.inherited was rejected (DEADLINE)");
                return "value";
            });

            assertThat(value).isEqualTo("value");
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            assertThat(Deadline.remaining()).isEmpty();
        }
    }

    @Test
    void aVoidMethodDoesNotInheritTheDeadlineOfItsCaller() throws Exception {
        try (TestContext context = TestContext.of(Partner.class)) {
            Partner partner = context.getBean(Partner.class);
            CompletableFuture<Optional<Duration>> seen = new CompletableFuture<>();

            partner.limitedOrder(() -> {
                partner.send(() -> seen.complete(Deadline.remaining()));
                return null;
            });

            assertThat(seen.get(120, SECONDS)).isEmpty();
        }
    }

    @Test
    @Tag("slow")
    void theHandlerHearsOfAVoidMethodPastItsOwnDeadline() throws Exception {
        Handler handler = new Handler();
        try (TestContext context = TestContext.with(it -> {
            it.register(Partner.class);
            it.registerBean("handler", AsyncUncaughtExceptionHandler.class, () -> handler);
        })) {
            Partner partner = context.getBean(Partner.class);
            partner.sendInTime(MethodDeadlineTests::forEver);
            assertThat(handler.next())
                    .isInstanceOf(CallTimeoutException.class)
                    .hasMessageStartingWith("Partner.sendInTime ran past its deadline of 2s");

            try (Held held = new Held(context)) {
                held.partner.sendSoon(() -> "never");
                assertThat(handler.next())
                        .isInstanceOf(LimitExceededException.class)
                        .hasMessageStartingWith("Partner.sendSoon was rejected (DEADLINE)");
            }
        }
    }

    @Test
    void aCallWithAKeyHasADeadlineToo() throws Exception {
        try (TestContext context = TestContext.of(Partner.class)) {
            Partner partner = context.getBean(Partner.class);
            TaskLimit mail = context.limits().get("mail");
            assertThat(partner.ofTenant("acme", () -> mail.key("acme")).get(120, SECONDS))
                    .isEqualTo(new KeyUse("acme", 1, 0));

            try (Held held = new Held(context)) {
                assertThat(failure(held.partner.soonOfTenant("acme", () -> "never")))
                        .hasMessageStartingWith("Partner.soonOfTenant was rejected (DEADLINE)")
                        .hasMessageContaining("key 'acme'");
                assertThat(held.mail.keys()).isZero();
            }
        }
    }

    @Test
    void aPlaceholderAnInterfaceAndAMetaAnnotationGiveADeadline() throws Exception {
        try (TestContext context =
                TestContext.with(Map.of("partner.deadline", " PT2H "), null, it -> it.register(Offers.class))) {
            Offers offers = context.getBean(Offers.class);

            assertLeft(offers.configured(), Duration.ofHours(2));
            assertLeft(offers.ofInterface(), Duration.ofHours(3));
            assertLeft(offers.inTime(), Duration.ofHours(4));
            assertThat(context.check().methods())
                    .extracting(AdvisedMethod::name, AdvisedMethod::deadline)
                    .contains(tuple("Offers.configured", Duration.ofHours(2)));
        }
    }

    @Test
    void anAnnotationOfTheUsersMayHaveADeadline() throws Exception {
        try (TestContext context = TestContext.with(it -> {
            it.withPostProcessor(Map.of("annotationType", InBackground.class, "proxyTargetClass", true));
            it.register(Own.class);
        })) {
            assertLeft(context.getBean(Own.class).left(), Duration.ofHours(5));
        }
    }

    @Test
    void theSettingsReplaceTheDeadlineOfBothAnnotations() throws Exception {
        MethodOverride anHour = new MethodOverride(null, null, Duration.ofHours(1));
        MethodSettings settings = new MethodSettings(
                null,
                null,
                Map.of(
                        HERE + "Partner.quote", anHour,
                        HERE + "Partner.limited", anHour,
                        HERE + "Partner.inherited", anHour));
        try (TestContext context = TestContext.withSettings(Map.of(), settings, it -> it.register(Partner.class))) {
            Partner partner = context.getBean(Partner.class);

            assertLeft(partner.quote(Deadline::remaining), Duration.ofHours(1));
            assertLeft(completedFuture(partner.limited(Deadline::remaining)), Duration.ofHours(1));
            assertLeft(partner.inherited(Deadline::remaining), Duration.ofHours(1));
        }
    }

    @Test
    void aCallThatEndsInTimeLeavesNothingInTheTimer() throws Exception {
        try (TestContext context = TestContext.of(Partner.class)) {
            TaskTimer timer = context.getBean(TaskTimer.class);
            Partner partner = context.getBean(Partner.class);

            assertThat(partner.patient(() -> TimerEntries.count(timer)).get(120, SECONDS))
                    .isEqualTo(1);
            await().atMost(Duration.ofMinutes(2))
                    .untilAsserted(() -> assertThat(TimerEntries.count(timer)).isZero());
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

    @Test
    void wovenCodeHasDeadlinesToo() throws Throwable {
        try (TestContext context = TestContext.of(Partner.class);
                Held held = new Held(context)) {
            AnnotatedMethods methods = new AnnotatedMethods(VirtualThread.class);
            WovenContext woven = new WovenContext(new VirtualThreadInterceptor(
                    (method, type) -> WovenContext.resolve(methods, method, type),
                    text -> text,
                    () -> context.getBean(CallEnvironment.class)));

            assertThat(failure((Future<?>) woven.invoke(call("quote")))).isInstanceOf(LimitExceededException.class);
            assertThatThrownBy(() -> woven.invoke(call("limited"))).isInstanceOf(LimitExceededException.class);
        }
    }

    /** What the aspect hands over. */
    private static MethodInvocation call(String name) throws Exception {
        MethodInvocation call = mock(MethodInvocation.class);
        when(call.getThis()).thenReturn(new Partner());
        when(call.getMethod()).thenReturn(Partner.class.getMethod(name, Callable.class));
        return call;
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

    private static Object forEver() throws InterruptedException {
        new CountDownLatch(1).await();
        return "never";
    }

    private static Throwable failure(Future<?> future) throws Exception {
        return ((CompletableFuture<?>) future)
                .handle((value, failure) -> failure)
                .get(120, SECONDS);
    }

    /** A call that holds the only permit of {@code mail}. */
    private static final class Held implements AutoCloseable {

        private final CountDownLatch release = new CountDownLatch(1);
        private final Future<Object> holder;
        final Partner partner;
        final TaskLimit mail;

        Held(TestContext context) throws Exception {
            partner = context.getBean(Partner.class);
            mail = context.limits().get("mail");
            CountDownLatch running = new CountDownLatch(1);
            holder = partner.hold(() -> {
                running.countDown();
                release.await();
                return "held";
            });
            assertThat(running.await(120, SECONDS)).isTrue();
        }

        @Override
        public void close() throws Exception {
            release.countDown();
            assertThat(holder.get(120, SECONDS)).isEqualTo("held");
        }
    }

    static class Partner {

        @VirtualThread("mail")
        public CompletableFuture<Object> hold(Callable<Object> body) throws Exception {
            return completedFuture(body.call());
        }

        @VirtualThread(limit = "mail", deadline = "50ms")
        public CompletableFuture<Object> quote(Callable<Object> body) throws Exception {
            return completedFuture(body.call());
        }

        /** Long enough to begin on a busy machine. */
        @VirtualThread(limit = "mail", deadline = "2s")
        public CompletableFuture<Object> order(Callable<Object> body) throws Exception {
            return completedFuture(body.call());
        }

        @Limited(limit = "mail", deadline = "2s")
        public @Nullable Object limitedOrder(Callable<Object> body) throws Exception {
            return body.call();
        }

        @VirtualThread(limit = "mail", deadline = "1h")
        public CompletableFuture<Object> patient(Callable<Object> body) throws Exception {
            return completedFuture(body.call());
        }

        @VirtualThread
        public CompletableFuture<Object> inherited(Callable<Object> body) throws Exception {
            return completedFuture(body.call());
        }

        @Limited(limit = "mail", deadline = "50ms")
        public @Nullable Object limited(Callable<Object> body) throws Exception {
            return body.call();
        }

        @VirtualThread
        public void send(Callable<Object> body) throws Exception {
            body.call();
        }

        @VirtualThread(limit = "mail", deadline = "2s")
        public void sendInTime(Callable<Object> body) throws Exception {
            body.call();
        }

        @VirtualThread(limit = "mail", deadline = "50ms")
        public void sendSoon(Callable<Object> body) throws Exception {
            body.call();
        }

        @VirtualThread(limit = "mail", deadline = "2s", key = "#tenant")
        public CompletableFuture<Object> ofTenant(String tenant, Callable<Object> body) throws Exception {
            return completedFuture(body.call());
        }

        @VirtualThread(limit = "mail", deadline = "50ms", key = "#tenant")
        public CompletableFuture<Object> soonOfTenant(String tenant, Callable<Object> body) throws Exception {
            return completedFuture(body.call());
        }
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
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface InBackground {

        String deadline() default "";
    }

    static class Own {

        @InBackground(deadline = "5h")
        public CompletableFuture<Optional<Duration>> left() {
            return completedFuture(Deadline.remaining());
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

    private static final class Handler implements AsyncUncaughtExceptionHandler {

        private final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();

        @Override
        public void handleUncaughtException(Throwable failure, Method method, @Nullable Object... params) {
            failures.add(failure);
        }

        Throwable next() throws InterruptedException {
            Throwable next = failures.poll(120, SECONDS);
            assertThat(next).isNotNull();
            return next;
        }
    }
}
