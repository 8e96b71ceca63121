package com.acme.weaving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.aspectj.VirtualThreadAspect;
import io.github.virtualthread.execution.Deadline;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.DryRunState;
import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.aspectj.lang.ProceedingJoinPoint;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.slf4j.MDC;
import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.jdbc.core.JdbcTemplate;

/** One application in mode ASPECTJ. */
@Timeout(value = 300, threadMode = ThreadMode.SEPARATE_THREAD) // also ends what cannot be interrupted
class WeavingTests {

    private static final BlockingQueue<String> failures = new LinkedBlockingQueue<>();

    private static ConfigurableApplicationContext context;
    private static Mailer mailer;

    @BeforeAll
    static void start() {
        context = new SpringApplicationBuilder(WeavingApplication.class, Handler.class)
                .web(WebApplicationType.NONE)
                .run();
        mailer = context.getBean(Mailer.class);
    }

    @AfterAll
    static void stop() {
        context.close();
    }

    @Test
    void aTimeoutCancelsTheStatementOfAWovenMethod() throws Exception {
        JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
        BlockingQueue<Throwable> seen = new LinkedBlockingQueue<>();
        jdbc.queryForObject("select 1", Integer.class); // so that the timeout begins with a connection in the pool

        assertThat(mailer.count(jdbc, seen)).failsWithin(Duration.ofMinutes(4));

        assertThat(seen.poll(4, TimeUnit.MINUTES))
                .isInstanceOf(QueryTimeoutException.class)
                .cause()
                .hasMessageStartingWith("The statement was cancelled: Mailer.count ran longer");
        assertThat(jdbc.queryForObject("select 1", Integer.class)).isOne();
    }

    @BeforeEach
    void forget() {
        Trace.take();
    }

    @Test
    void itRunsOnTheSpringBootAndTheJavaThatWereAskedFor() {
        assertThat(SpringBootVersion.getVersion()).isEqualTo(System.getProperty("expected.spring-boot"));
        String java = System.getProperty("expected.java");
        if (java == null || java.isBlank()) {
            assertThat(Runtime.version().feature()).isGreaterThanOrEqualTo(21);
        } else {
            assertThat(Runtime.version().feature()).hasToString(java);
        }
        assertThat(ProceedingJoinPoint.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .getPath())
                .endsWith("aspectjweaver-" + System.getProperty("expected.aspectj") + ".jar");
        assertThat(VirtualThreadAspect.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .getPath())
                .endsWith(".jar");
    }

    @Test
    void aCallWithinOneObjectHops() {
        assertThat(mailer.sendByItself().join()).matches(Thread::isVirtual);
        assertThat(AopUtils.isAopProxy(mailer)).isFalse();
    }

    @Test
    void aPrivateMethodHops() {
        Thread ran = mailer.sendPrivately().join();

        assertThat(ran.isVirtual()).isTrue();
        assertThat(ran.getName()).startsWith("vt-Mailer.secretly-");
    }

    @Test
    void aMethodWithAnAnnotationOfTheUsersHops() {
        assertThat(mailer.byAnotherAnnotation().join()).matches(Thread::isVirtual);
    }

    @Test
    void anAnnotatedTypeCoversItsPublicMethods() {
        Sends<String> typed = context.getBean(Typed.class);

        assertThat(typed.send("x").join()).matches(Thread::isVirtual);
        assertThat(context.getBean(Typed.class).notPublic().join()).isSameAs(Thread.currentThread());
        assertThat(typed).hasToString("Typed");
    }

    @Test
    void anAnnotatedTypeCoversWhatSpringCallsButNotTheLifeCycleOfTheBean() throws Exception {
        Listening listening = context.getBean(Listening.class);

        assertThat(listening.heard.take()).matches(Thread::isVirtual);
        assertThat(listening.begun).hasSize(2).noneMatch(Thread::isVirtual);
    }

    @Test
    void aDefaultMethodHops() {
        assertThat(context.getBean(Typed.class).sendByDefault().join()).matches(Thread::isVirtual);
    }

    @Test
    void aCallOfWhatIsOverriddenStaysInTheRun() {
        assertThat(context.getBean(Derived.class).send().toCompletableFuture().join())
                .isEqualTo("base");
        assertThat(Trace.take()).containsExactly("derived on vt-Derived.send", "base on vt-Derived.send");
    }

    @Test
    void aLimitHolds() throws Exception {
        CountDownLatch entered = new CountDownLatch(3);
        CountDownLatch release = new CountDownLatch(1);
        List<CompletableFuture<Integer>> calls =
                IntStream.range(0, 20).mapToObj(i -> hold(entered, release)).toList();

        entered.await();
        assertThat(context.getBean(TaskLimits.class).get("mail").waiting()).isEqualTo(17);
        release.countDown();

        CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new)).join();
        assertThat(mailer.most.get()).isEqualTo(3);
    }

    @Test
    void aKeyIsReadByTheNameOfItsParameter() {
        TaskLimit mail = context.getBean(TaskLimits.class).get("mail");

        assertThat(mailer.running("acme", mail).join()).isEqualTo(1);
        assertThat(mailer.runningOfFirst(List.of("ACME", "other"), mail)).isEqualTo(1);
        assertThat(mailer.running(null, mail))
                .failsWithin(Duration.ofMinutes(1))
                .withThrowableThat()
                .withMessageContaining("The key \"#tenant\" of com.acme.weaving.Mailer.running is null");
    }

    private static CompletableFuture<Integer> hold(CountDownLatch entered, CountDownLatch release) {
        try {
            return mailer.hold(entered, release);
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    @Test
    void theMdcTravels() {
        MDC.put("requestId", "r-1");
        try {
            assertThat(mailer.requestId().join()).isEqualTo("r-1");
        } finally {
            MDC.remove("requestId");
        }
    }

    @Test
    void cancelInterrupts() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CompletableFuture<Integer> call = hold(entered, new CountDownLatch(1));
        entered.await();

        call.cancel(true);

        // all three permits are there only when the body has ended
        CountDownLatch all = new CountDownLatch(3);
        IntStream.range(0, 3).forEach(i -> hold(all, all));
        assertThat(all.await(2, TimeUnit.MINUTES)).isTrue();
    }

    @Test
    void whatAVoidMethodThrowsReachesTheHandler() throws Exception {
        mailer.fail("no server");

        assertThat(failures.poll(2, TimeUnit.MINUTES)).isEqualTo("fail(no server): no server");
    }

    @Test
    void aLimitedMethodRunsOnItsCallersThreadUnderThePermit() throws Exception {
        CountDownLatch entered = new CountDownLatch(3);
        CountDownLatch release = new CountDownLatch(1);
        for (int i = 0; i < 3; i++) {
            hold(entered, release);
        }
        entered.await();
        CompletableFuture<Integer> limited = new CompletableFuture<>();
        Thread caller = Thread.ofPlatform().name("caller").start(() -> limited.complete(mailer.limited(7)));
        while (context.getBean(TaskLimits.class).get("mail").waiting() == 0
                && !Thread.currentThread().isInterrupted()) {
            Thread.onSpinWait();
        }
        assertThat(Trace.take()).isEmpty();

        release.countDown();

        assertThat(limited.get()).isEqualTo(7);
        caller.join();
        assertThat(Trace.take()).containsExactly("limited on caller");
    }

    @Test
    void aLimitThatOnlyWatchesLetsWovenCallsBeginAtOnce() throws Exception {
        TaskLimit watched = context.getBean(TaskLimits.class).get("watched");
        CountDownLatch entered = new CountDownLatch(3);
        CountDownLatch release = new CountDownLatch(1);
        List<CompletableFuture<Integer>> calls = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            calls.add(mailer.watch(entered, release));
        }
        assertThat(entered.await(2, TimeUnit.MINUTES)).isTrue();
        assertThat(mailer.watchHere(7)).isEqualTo(7);

        watched.change(now -> now.withDryRun(false));
        calls.add(mailer.watch(entered, release));
        assertThat(watched.inUse()).isEqualTo(3);
        assertThat(watched.waiting()).isOne();

        release.countDown();
        CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new)).get(2, TimeUnit.MINUTES);
        DryRunState state = watched.dryRun();
        assertThat(state.mostInUse()).isEqualTo(4);
        assertThat(state.same().calls()).isEqualTo(4);
        assertThat(state.same().waited()).isEqualTo(3);
    }

    @Test
    void aDeadlineIsReadAndACallOfTheSameObjectInheritsIt() {
        assertThat(mailer.timeLeft().join())
                .hasValueSatisfying(left -> assertThat(left).isBetween(Duration.ofHours(1), Duration.ofHours(2)));
        assertThat(mailer.timeLeftWithinAnHour())
                .hasValueSatisfying(left -> assertThat(left).isBetween(Duration.ofMinutes(30), Duration.ofHours(1)));
        assertThat(Deadline.remaining()).isEmpty();
    }

    @Test
    void staticMethodsAndObjectsThatAreNoBeansUseTheEngineToo() {
        assertThat(Mailer.sendStatically().join()).matches(Thread::isVirtual);
        assertThat(new Mailer().sendByItself().join()).matches(Thread::isVirtual);
    }

    @Test
    void adviceOfOthersRunsInsideOnTheVirtualThreadAndTheBodyOnce() {
        assertThat(context.getBean(Advised.class).work(7).join()).isEqualTo(7);

        List<String> trace = Trace.take();
        assertThat(trace).hasSize(5).allMatch(line -> line.endsWith(" on vt-advised"));
        assertThat(trace.get(2)).startsWith("body");
        assertThat(trace).filteredOn(line -> line.startsWith("first")).hasSize(2);
        assertThat(trace).filteredOn(line -> line.startsWith("second")).hasSize(2);
    }

    @Test
    void aWovenTransactionRunsInsideToo() {
        assertThat(context.getBean(Advised.class).inTransaction().join()).isTrue();

        assertThat(Trace.take()).hasSize(5).allMatch(line -> line.endsWith(" on vt-transactional"));
    }

    @Test
    void manyCallsAtOnceRunTheirBodiesOnceEach() throws Exception {
        Advised advised = context.getBean(Advised.class);
        CyclicBarrier barrier = new CyclicBarrier(8);
        List<CompletableFuture<Integer>> calls = new ArrayList<>();
        try (ExecutorService callers = Executors.newFixedThreadPool(8)) {
            List<Future<List<CompletableFuture<Integer>>>> made = IntStream.range(0, 8)
                    .mapToObj(caller -> callers.submit(() -> {
                        barrier.await();
                        return IntStream.range(0, 100)
                                .mapToObj(i -> advised.work(caller * 100 + i))
                                .toList();
                    }))
                    .toList();
            for (Future<List<CompletableFuture<Integer>>> each : made) {
                calls.addAll(each.get());
            }
        }

        for (int i = 0; i < calls.size(); i++) {
            assertThat(calls.get(i).join()).isEqualTo(i);
        }
        assertThat(Trace.take()).hasSize(5 * 800).allMatch(line -> line.endsWith(" on vt-advised"));
    }

    @Configuration(proxyBeanMethods = false)
    static class Handler {

        @Bean
        AsyncUncaughtExceptionHandler handler() {
            return (failure, method, arguments) ->
                    failures.add("%s(%s): %s".formatted(method.getName(), arguments[0], failure.getMessage()));
        }
    }
}
