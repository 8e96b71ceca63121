package io.github.virtualthread.aop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowable;

import ch.qos.logback.classic.Level;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.limit.TaskLimits;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import kotlin.Unit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aop.MethodBeforeAdvice;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.support.PropertySourcesPlaceholderConfigurer;
import org.springframework.util.ClassUtils;

@Timeout(300)
class VirtualThreadInterceptorTests {

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
    void aCallBeforeTheCheckThatNamesAnUnknownLimitFailsItsCaller() {
        try (TestContext context = TestContext.of(Misspelt.class)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> context.getBean(Misspelt.class).send())
                    .withMessageContaining("mial");
        }
    }

    static class Misspelt {
        @VirtualThread("mial")
        Future<Void> send() {
            return completedFuture(null);
        }
    }

    @Test
    void anUnresolvablePlaceholderFailsTheCallWithAndWithoutAConfigurer() {
        for (Class<?>[] components :
                new Class<?>[][] {{Mailer.class}, {Mailer.class, PropertySourcesPlaceholderConfigurer.class}}) {
            try (TestContext context = TestContext.of(components)) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() ->
                                context.getBean(Mailer.class).configured(new CountDownLatch(0), new CountDownLatch(0)))
                        .withMessageContaining("the.limit");
            }
        }
    }

    @Test
    void declaredAndUncheckedExceptionsComeOutAsTheyAre() throws Exception {
        try (TestContext context = TestContext.of(Mailer.class)) {
            Mailer mailer = context.getBean(Mailer.class);

            assertThat(failure(mailer.failing(() -> {
                        throw new IOException("declared");
                    })))
                    .isExactlyInstanceOf(IOException.class);
            assertThat(failure(mailer.failing(() -> {
                        throw new ArithmeticException();
                    })))
                    .isExactlyInstanceOf(ArithmeticException.class);
        }
    }

    @Test
    void aSneakyCheckedExceptionComesOutUnwrapped() {
        try (TestContext context = TestContext.of(Mailer.class)) {
            Throwable failure = failure(context.getBean(Mailer.class).sneaky(() -> {
                throw new IOException("sneaky");
            }));

            assertThat(failure).isExactlyInstanceOf(IOException.class).hasMessage("sneaky");
        }
    }

    @Test
    void aWrapperThatTheBodyGotFromAnotherProxyIsItsOwnException() {
        InvocationHandler thrower = (self, method, args) -> {
            throw new IOException("inner");
        };
        Runnable other = (Runnable)
                Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Runnable.class}, thrower);
        try (TestContext context = TestContext.of(Mailer.class)) {
            Mailer mailer = context.getBean(Mailer.class);

            assertThat(failure(mailer.sneaky(() -> {
                        other.run();
                        return null;
                    })))
                    .isExactlyInstanceOf(UndeclaredThrowableException.class);
            assertThat(failure(mailer.sneaky(() -> sneakyClassProxy().call())))
                    .isExactlyInstanceOf(UndeclaredThrowableException.class);
        }
    }

    private static Sneaky sneakyClassProxy() {
        ProxyFactory factory = new ProxyFactory(new Sneaky());
        factory.setProxyTargetClass(true);
        factory.addAdvice((MethodBeforeAdvice) (method, args, target) -> {});
        return (Sneaky) factory.getProxy();
    }

    static class Sneaky {
        public Object call() {
            throw Mailer.<RuntimeException>hidden(new IOException("inner"));
        }
    }

    @Test
    void aFailureOfAVoidMethodGoesToTheHandlerWithMethodAndArguments() throws Exception {
        try (TestContext context = TestContext.of(Mailer.class, Handler.class)) {
            context.getBean(Mailer.class).broken("a");

            assertThat(context.getBean(Handler.class).failure()).isEqualTo("broken[a] no a");
        }
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

    private static Throwable failure(Future<?> future) {
        Throwable thrown = catchThrowable(() -> future.get(120, SECONDS));
        assertThat(thrown).isInstanceOf(ExecutionException.class);
        return thrown.getCause();
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

    static class Mailer {

        @VirtualThread
        CompletableFuture<Thread> completable() {
            return completedFuture(Thread.currentThread());
        }

        @VirtualThread
        public CompletionStage<Thread> stage() {
            return completedFuture(Thread.currentThread());
        }

        @VirtualThread
        protected Future<Thread> future() {
            return completedFuture(Thread.currentThread());
        }

        @VirtualThread
        void nothing(CountDownLatch release, BlockingQueue<Thread> threads) throws InterruptedException {
            release.await();
            threads.add(Thread.currentThread());
        }

        @VirtualThread
        Unit unit() {
            throw new IllegalStateException("fails");
        }

        @VirtualThread(name = "sender")
        CompletableFuture<Thread> named() {
            return completedFuture(Thread.currentThread());
        }

        @VirtualThread("MAIL")
        Future<Void> limited(CountDownLatch running, CountDownLatch release) throws InterruptedException {
            return held(running, release);
        }

        @VirtualThread
        Future<Void> unlimited(CountDownLatch running, CountDownLatch release) throws InterruptedException {
            return held(running, release);
        }

        @VirtualThread("none")
        Future<Void> optedOut(CountDownLatch running, CountDownLatch release) throws InterruptedException {
            return held(running, release);
        }

        @VirtualThread("${the.limit}")
        Future<Void> configured(CountDownLatch running, CountDownLatch release) throws InterruptedException {
            return held(running, release);
        }

        private Future<Void> held(CountDownLatch running, CountDownLatch release) throws InterruptedException {
            running.countDown();
            release.await();
            return completedFuture(null);
        }

        @VirtualThread
        Future<Void> failing(Callable<?> body) throws Exception {
            body.call();
            return completedFuture(null);
        }

        @VirtualThread
        Future<Void> sneaky(Callable<?> body) {
            try {
                body.call();
                return completedFuture(null);
            } catch (Exception failure) {
                throw Mailer.<RuntimeException>hidden(failure);
            }
        }

        @SuppressWarnings("unchecked")
        private static <T extends Throwable> T hidden(Throwable failure) throws T {
            throw (T) failure;
        }

        @VirtualThread("mail")
        void broken(String argument) {
            throw new IllegalStateException("no " + argument);
        }
    }

    static class Handler implements AsyncUncaughtExceptionHandler {

        private final BlockingQueue<String> failures = new LinkedBlockingQueue<>();

        @Override
        public void handleUncaughtException(Throwable ex, Method method, Object... params) {
            String arguments = params.length == 0 ? "" : Arrays.toString(params);
            failures.add(method.getName() + arguments + " " + ex.getMessage());
        }

        String failure() throws InterruptedException {
            return failures.poll(120, SECONDS);
        }
    }
}
