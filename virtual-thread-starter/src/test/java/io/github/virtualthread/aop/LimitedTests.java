package io.github.virtualthread.aop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import java.io.IOException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.AliasFor;

@Timeout(300)
class LimitedTests {

    @AfterEach
    void leaveNoInterrupt() {
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void aMethodRunsOnTheThreadOfItsCallerAndHoldsAPermitUntilItEnds() {
        try (TestContext context = TestContext.of(Prices.class)) {
            Prices prices = context.getBean(Prices.class);
            TaskLimit mail = mail(context);

            assertThat(prices.thread()).isSameAs(Thread.currentThread());
            assertThat(prices.count(mail::available)).isZero();
            assertThat(mail.available()).isOne();
        }
    }

    @Test
    void aFailureIsTheMethodsOwn() {
        try (TestContext context = TestContext.of(Prices.class)) {
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> context.getBean(Prices.class).failing())
                    .withMessage("own");
        }
    }

    @Test
    void aRejectionIsThrownToTheCaller() throws Exception {
        try (TestContext context = TestContext.of(Prices.class)) {
            mail(context).setQueueCapacity(0);
            HeldPermit held = HeldPermit.of(context);

            assertThatExceptionOfType(LimitExceededException.class)
                    .isThrownBy(() -> context.getBean(Prices.class).named())
                    .withMessageStartingWith("price list was rejected (QUEUE_FULL)");
            held.giveBack();
        }
    }

    @Test
    void anInterruptWhileWaitingIsThrownWhereTheMethodDeclaresIt() throws Exception {
        try (TestContext context = TestContext.of(Prices.class)) {
            Prices prices = context.getBean(Prices.class);
            HeldPermit held = HeldPermit.of(context);

            Thread.currentThread().interrupt();
            assertThatExceptionOfType(InterruptedException.class)
                    .isThrownBy(() -> prices.interruptible(() -> "never"))
                    .withMessageContaining("Prices.interruptible was interrupted while it waited");
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            Thread.currentThread().interrupt();
            assertThatExceptionOfType(InterruptedException.class).isThrownBy(prices::anyException);
            held.giveBack();
        }
    }

    @Test
    void anInterruptWhileWaitingIsRestoredWhereTheMethodDoesNotDeclareIt() throws Exception {
        try (TestContext context = TestContext.of(Prices.class)) {
            Prices prices = context.getBean(Prices.class);
            HeldPermit held = HeldPermit.of(context);

            Thread.currentThread().interrupt();
            assertThatExceptionOfType(CancellationException.class)
                    .isThrownBy(prices::thread)
                    .withMessageContaining("Prices.thread was interrupted while it waited for a permit of limit 'mail'")
                    .withCauseInstanceOf(InterruptedException.class);
            assertThat(Thread.interrupted()).isTrue();
            assertThat(mail(context).waiting()).isZero();
            held.giveBack();
            assertThat(mail(context).available()).isOne();
        }
    }

    @Test
    void anInterruptionOfTheBodyIsItsOwn() {
        try (TestContext context = TestContext.of(Prices.class)) {
            assertThatExceptionOfType(InterruptedException.class)
                    .isThrownBy(() -> context.getBean(Prices.class).interruptible(() -> {
                        throw new InterruptedException("own");
                    }))
                    .withMessage("own");
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
        }
    }

    @Test
    void itMayBeAMetaAnnotation() {
        try (TestContext context = TestContext.of(Meta.class)) {
            assertThat(context.getBean(Meta.class).available(mail(context))).isZero();
        }
    }

    @Test
    void theDefaultTimeoutDoesNotApply() {
        try (TestContext context = TestContext.withSettings(
                Map.of(), new MethodSettings(null, Duration.ofNanos(1), Map.of()), it -> it.register(Prices.class))) {
            assertThat(context.getBean(Prices.class).thread()).isSameAs(Thread.currentThread());
        }
    }

    @Test
    void switchedOffItLeavesMethodsAsTheyAre() {
        try (TestContext context =
                TestContext.with(Map.of("virtual-thread.enabled", false), null, it -> it.register(Prices.class))) {
            Prices prices = context.getBean(Prices.class);

            assertThat(AopUtils.isAopProxy(prices)).isFalse();
            assertThat(prices.count(mail(context)::available)).isOne();
        }
    }

    private static TaskLimit mail(TestContext context) {
        return context.getBean(TaskLimits.class).get("mail");
    }

    /** The only permit of {@code mail}, which a virtual thread holds. */
    private record HeldPermit(CountDownLatch release, Future<String> holder) {

        static HeldPermit of(TestContext context) throws InterruptedException {
            CountDownLatch running = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            Future<String> holder = context.getBean(Prices.class).hold(running, release);
            assertThat(running.await(120, SECONDS)).isTrue();
            return new HeldPermit(release, holder);
        }

        void giveBack() throws Exception {
            release.countDown();
            assertThat(holder.get(120, SECONDS)).isEqualTo("held");
        }
    }

    static class Prices {

        @Limited("mail")
        Thread thread() {
            return Thread.currentThread();
        }

        @Limited(limit = "mail")
        public int count(IntSupplier source) {
            return source.getAsInt();
        }

        @Limited("mail")
        protected void failing() throws IOException {
            throw new IOException("own");
        }

        @Limited(value = "mail", name = "price list")
        public void named() {}

        @Limited("mail")
        public String interruptible(Callable<String> body) throws InterruptedException {
            try {
                return body.call();
            } catch (InterruptedException own) {
                throw own;
            } catch (Exception other) {
                throw new IllegalStateException(other);
            }
        }

        @Limited("mail")
        public void anyException() throws Exception {}

        @VirtualThread("mail")
        public Future<String> hold(CountDownLatch running, CountDownLatch release) throws InterruptedException {
            running.countDown();
            release.await();
            return completedFuture("held");
        }
    }

    @Limited
    @Retention(RetentionPolicy.RUNTIME)
    @interface OnMail {

        @AliasFor(annotation = Limited.class, attribute = "limit")
        String value() default "mail";
    }

    static class Meta {

        @OnMail
        public int available(TaskLimit limit) {
            return limit.available();
        }
    }
}
