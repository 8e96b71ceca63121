package io.github.virtualthread.aop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.limit.TaskLimits;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.util.ClassUtils;

/** On which thread and under which limit an annotated method runs, and what its caller gets. */
@Timeout(300)
class VirtualThreadInterceptorTests extends InterceptedMailer {

    private static final String UNCONFIGURED = null;

    @Test
    void everyKindOfFutureComesFromAVirtualThread() throws Exception {
        try (TestContext context = TestContext.of(Mailer.class)) {
            Mailer mailer = context.getBean(Mailer.class);

            assertThat(mailer.completable().get(120, SECONDS).isVirtual()).isTrue();
            assertThat(mailer.stage().toCompletableFuture().get(120, SECONDS).isVirtual())
                    .isTrue();
            assertThat(mailer.future().get(120, SECONDS).isVirtual()).isTrue();
        }
    }

    /** What lies below a body is copied whenever that blocks, and a call that sleeps keeps it. */
    @Test
    void aBodyHasThreeFramesOfOursBelowIt() throws Exception {
        try (TestContext context = TestContext.of(Walker.class)) {
            assertThat(context.getBean(Walker.class).frames().get(120, SECONDS))
                    .containsExactly("VirtualThreadInterceptor.FutureBody.run", "Task.runHere", "Task.run");
        }
    }

    @Test
    void aVoidMethodReturnsWhileItsBodyRuns() throws Exception {
        try (TestContext context = TestContext.of(Mailer.class)) {
            CountDownLatch release = new CountDownLatch(1);
            BlockingQueue<Thread> threads = new LinkedBlockingQueue<>();

            context.getBean(Mailer.class).nothing(release, threads);
            assertThat(threads).isEmpty();
            release.countDown();

            assertThat(threads.poll(120, SECONDS).isVirtual()).isTrue();
        }
    }

    @Test
    void kotlinsUnitCountsAsVoid() throws Exception {
        try (TestContext context = TestContext.of(Mailer.class, Handler.class)) {
            assertThat(context.getBean(Mailer.class).unit()).isNull();
            assertThat(context.getBean(Handler.class).failure()).isEqualTo("unit fails");
        }
    }

    @Test
    void nullInPlaceOfAFutureIsLoggedOnceForEachMethod() {
        try (TestContext context = TestContext.of(Forgetful.class);
                Logs logs = new Logs(Thread::isVirtual)) {
            Forgetful forgetful = context.getBean(Forgetful.class);
            assertThat(forgetful.first().join()).isNull();
            assertThat(forgetful.first().join()).isNull();
            assertThat(forgetful.second().join()).isNull();
            assertThat(forgetful.nothing().join()).isNull();

            assertThat(logs.messages(Level.WARN)).containsExactly(nullFuture("first"), nullFuture("second"));
        }
    }

    private static String nullFuture(String method) {
        return Forgetful.class.getName() + "." + method
                + " returned null instead of a future; its callers get a future that is completed with null. Return"
                + " completedFuture(value), or completedFuture(null) if there is no value. Further calls of this method are"
                + " not logged";
    }

    static class Forgetful {

        @VirtualThread
        CompletableFuture<String> first() {
            return null;
        }

        @VirtualThread
        CompletableFuture<String> second() {
            return null;
        }

        @VirtualThread
        CompletableFuture<String> nothing() {
            return completedFuture(null);
        }
    }

    @Test
    void threadsAreNamedByClassAndMethodOrByTheGivenName() throws Exception {
        try (TestContext context = TestContext.of(Mailer.class)) {
            Mailer mailer = context.getBean(Mailer.class);

            assertThat(mailer.completable().get().getName()).startsWith("vt-Mailer.completable-");
            assertThat(mailer.named().get().getName()).startsWith("vt-sender-");
        }
    }

    @Test
    void theLimitOfTheAnnotationHoldsWhileTheBodyRuns() throws Exception {
        assertThat(freePermits(Map.of(), UNCONFIGURED, Mailer::limited, "mail")).isZero();
    }

    @Test
    void theDefaultLimitIsThatOfMethodsWhichNameNone() throws Exception {
        assertThat(freePermits(Map.of(), "mail", Mailer::unlimited, "mail")).isZero();
        assertThat(freePermits(Map.of(), UNCONFIGURED, Mailer::unlimited, "mail"))
                .isOne();
    }

    @Test
    void noneOptsOutOfTheDefaultLimit() throws Exception {
        assertThat(freePermits(Map.of(), "mail", Mailer::optedOut, "mail")).isOne();
    }

    @Test
    void placeholdersAreResolved() throws Exception {
        assertThat(freePermits(Map.of("the.limit", "re-port"), UNCONFIGURED, Mailer::configured, "report"))
                .isOne();
        assertThat(freePermits(Map.of("the.limit", " "), "mail", Mailer::configured, "mail"))
                .isZero();
    }

    private static int freePermits(Map<String, Object> properties, String defaultLimit, LimitedCall call, String limit)
            throws Exception {
        try (TestContext context = TestContext.with(properties, defaultLimit, it -> it.register(Mailer.class))) {
            CountDownLatch running = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            Future<?> future = call.on(context.getBean(Mailer.class), running, release);
            running.await();
            int available = context.getBean(TaskLimits.class).get(limit).available();
            release.countDown();
            future.get();
            return available;
        }
    }

    interface LimitedCall {
        Future<?> on(Mailer mailer, CountDownLatch running, CountDownLatch release) throws InterruptedException;
    }

    @Test
    void whatCallsNeedIsLookedUpOnce() throws Exception {
        AtomicInteger lookups = new AtomicInteger();
        try (TestContext context = TestContext.with(it -> {
            it.register(Mailer.class);
            it.getDefaultListableBeanFactory().addBeanPostProcessor(new BeanPostProcessor() {
                @Override
                public Object postProcessAfterInitialization(Object bean, String name) {
                    lookups.addAndGet(bean instanceof CallEnvironment ? 1 : 0);
                    return bean;
                }
            });
            it.getBeanFactory().getBeanDefinition("environmentOfCalls").setScope("prototype");
        })) {
            assertThat(lookups).hasValue(0);
            context.getBean(Mailer.class).completable().get();
            context.getBean(Mailer.class).stage().toCompletableFuture().get();

            assertThat(lookups).hasValue(1);
        }
    }

    static class Walker {

        @VirtualThread
        CompletableFuture<List<String>> frames() {
            return completedFuture(StackWalker.getInstance()
                    .walk(frames -> frames.filter(frame -> frame.getClassName().startsWith("io.github.virtualthread.")
                                    && !frame.getClassName().contains("Tests"))
                            .map(frame -> ClassUtils.getShortName(frame.getClassName()) + "." + frame.getMethodName())
                            .toList()));
        }
    }
}
