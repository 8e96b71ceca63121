package io.github.virtualthread.aop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import ch.qos.logback.classic.Level;
import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.execution.TaskCall;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.KeyUse;
import io.github.virtualthread.limit.TaskLimits;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.core.annotation.AliasFor;

/** The attribute {@code key} of annotated methods. */
@Timeout(300)
class KeyTests {

    private static final String HERE = KeyTests.class.getName() + "$";

    @Test
    void aLimitedMethodHasAKeyToo() {
        try (TestContext context = TestContext.of(Reports.class)) {
            TaskLimit mail = mail(context);

            assertThat(context.<Reports>getBean(Reports.class).limited("acme", () -> mail.key("acme")))
                    .isEqualTo(new KeyUse("acme", 1, 0));
            assertThat(mail.keys()).isZero();
        }
    }

    @Test
    void aVoidMethodAnInterfaceAPlaceholderAndAMetaAnnotationGiveAKey() throws Exception {
        try (TestContext context =
                TestContext.with(Map.of("report.key", "#p0"), null, it -> it.register(Reports.class))) {
            Reports reports = context.getBean(Reports.class);
            CountDownLatch release = new CountDownLatch(1);
            Future<String> holder = reports.hold(release);

            reports.nothing("a");
            reports.ofInterface("b");
            reports.configured("c");
            reports.ofTenant("d");

            assertThat(mail(context).busiestKeys(9))
                    .extracting(KeyUse::key)
                    .containsExactlyInAnyOrder("a", "b", "c", "d");
            release.countDown();
            holder.get(120, SECONDS);
        }
    }

    @Test
    void withoutALimitAKeyIsNotRead() {
        try (Logs logs = new Logs();
                TestContext context = TestContext.of(Unlimited.class)) {
            assertThat(context.check().mistakes()).isEmpty();

            assertThat(logs.messages(Level.WARN))
                    .containsExactly(
                            HERE + "Unlimited.report has @VirtualThread with a key, but no limit: the key has no"
                                    + " effect. Name a limit, under which keys take turns, or remove the attribute key");
            assertThat(context.getBean(Unlimited.class).report(null).join()).isEqualTo("done");
        }
    }

    @Test
    void aCallWithoutAKeyFailsByItsFutureAndListenersSeeIt() {
        Seen seen = new Seen();
        try (TestContext context = TestContext.with(it -> {
            it.register(Reports.class);
            it.registerBean("listener", TaskListener.class, () -> seen);
        })) {
            Reports reports = context.getBean(Reports.class);

            assertThat(reports.report(null, "never"))
                    .failsWithin(Duration.ofMinutes(2))
                    .withThrowableThat()
                    .havingCause()
                    .isExactlyInstanceOf(IllegalArgumentException.class)
                    .withMessageContaining("The key \"#tenant\" of " + HERE + "Reports.report is null");
            assertThat(reports.byPath("never", null)).isCompletedExceptionally();
            assertThat(reports.order()).isEmpty();
            assertThat(seen.events)
                    .containsExactly(
                            "submitted Reports.report",
                            "finished Reports.report ERROR",
                            "submitted Reports.byPath",
                            "finished Reports.byPath ERROR");
            assertThat(mail(context).available()).isOne();
        }
    }

    @Test
    void aVoidCallWithoutAKeyGoesToTheHandlerWithItsArguments() throws Exception {
        Handler handler = new Handler();
        try (TestContext context = TestContext.with(it -> {
            it.register(Reports.class);
            it.registerBean(AsyncUncaughtExceptionHandler.class, () -> handler);
        })) {
            context.getBean(Reports.class).nothing(null);

            assertThat(handler.failures.poll(120, SECONDS))
                    .startsWith("nothing [null]: The key \"#tenant\" of " + HERE + "Reports.nothing is null");
        }
    }

    @Test
    void aLimitedCallWithoutAKeyThrows() {
        Seen seen = new Seen();
        try (TestContext context = TestContext.with(it -> {
            it.register(Reports.class);
            it.registerBean("listener", TaskListener.class, () -> seen);
        })) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> context.getBean(Reports.class).limited(null, () -> null))
                    .withMessageContaining("The key \"#tenant\" of " + HERE + "Reports.limited is null");
            assertThat(seen.events).containsExactly("submitted Reports.limited", "finished Reports.limited ERROR");
        }
    }

    private static TaskLimit mail(TestContext context) {
        return context.getBean(TaskLimits.class).get("mail");
    }

    record Customer(String id) {}

    record Order(Customer customer) {}

    interface Reporting {

        @VirtualThread(limit = "mail", key = "#theTenant")
        CompletableFuture<String> ofInterface(String theTenant);
    }

    @Retention(RetentionPolicy.RUNTIME)
    @VirtualThread(limit = "mail")
    @interface OfTenant {

        @AliasFor(annotation = VirtualThread.class)
        String key() default "#tenant";
    }

    static class Reports implements Reporting {

        private final BlockingQueue<String> order = new LinkedBlockingQueue<>();

        Collection<String> order() {
            return order;
        }

        @VirtualThread("mail")
        public CompletableFuture<String> hold(CountDownLatch release) throws InterruptedException {
            release.await();
            return completedFuture("held");
        }

        @VirtualThread(limit = "mail", key = "#tenant")
        public CompletableFuture<String> report(String tenant, String name) {
            order.add(name);
            return completedFuture(name);
        }

        @VirtualThread(limit = "mail", key = "#order.customer.id")
        public CompletableFuture<String> byPath(String name, Order order) {
            return report(order.customer().id(), name);
        }

        @VirtualThread(limit = "mail", key = "#tenant")
        public void nothing(String tenant) {}

        @Override
        public CompletableFuture<String> ofInterface(String tenant) {
            return completedFuture(tenant);
        }

        @VirtualThread(limit = "mail", key = "${report.key:#tenant}")
        public CompletableFuture<String> configured(String tenant) {
            return completedFuture(tenant);
        }

        @OfTenant
        public CompletableFuture<String> ofTenant(String tenant) {
            return completedFuture(tenant);
        }

        @Limited(limit = "mail", key = "#tenant")
        public @Nullable KeyUse limited(String tenant, Supplier<KeyUse> use) {
            return use.get();
        }
    }

    static class Unlimited {

        @VirtualThread(key = "#tenant")
        public CompletableFuture<String> report(String tenant) {
            return completedFuture("done");
        }
    }

    private static final class Seen implements TaskListener {

        private final BlockingQueue<String> events = new LinkedBlockingQueue<>();

        @Override
        public void submitted(TaskCall call) {
            events.add("submitted " + call.spec().name());
        }

        @Override
        public void started(TaskCall call) {
            events.add("started " + call.spec().name());
        }

        @Override
        public void finished(TaskCall call, Outcome outcome, @Nullable Throwable failure) {
            events.add("finished %s %s".formatted(call.spec().name(), outcome));
        }
    }

    private static final class Handler implements AsyncUncaughtExceptionHandler {

        private final BlockingQueue<String> failures = new LinkedBlockingQueue<>();

        @Override
        public void handleUncaughtException(Throwable failure, Method method, Object... params) {
            failures.add("%s %s: %s".formatted(method.getName(), Arrays.toString(params), failure.getMessage()));
        }
    }
}
