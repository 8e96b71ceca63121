package io.github.virtualthread.observation;

import io.github.virtualthread.cluster.ClusterShares;
import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.execution.CallExtensions;
import io.github.virtualthread.execution.Calls;
import io.github.virtualthread.execution.TaskBody;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskThreads;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.timer.TaskTimer;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.support.StaticListableBeanFactory;

/** An engine with its meters in a registry, as an application context puts them together. */
final class MeteredEngine implements AutoCloseable {

    /** Every body that runs is stuck. */
    private static final Duration STUCK_AFTER = Duration.ofNanos(1);

    final TaskTimer timer = new TaskTimer("timer");
    final TaskLimits limits;
    final TaskEngine engine;
    final TaskMeters meters;
    final VirtualThreads threads;
    final CountDownLatch gate = new CountDownLatch(1);

    /** Not started yet. */
    MeteredEngine(List<MeterRegistry> registries, LimitSettings... settings) {
        this(registries, null, settings);
    }

    /** With shares of limits, made with the timer. */
    MeteredEngine(
            List<MeterRegistry> registries,
            @Nullable Function<TaskTimer, ClusterShares> shared,
            LimitSettings... settings) {
        this(beans(registries), shared, settings);
    }

    /** With the registries among the beans. */
    MeteredEngine(
            StaticListableBeanFactory beans,
            @Nullable Function<TaskTimer, ClusterShares> shared,
            LimitSettings... settings) {
        limits = new TaskLimits(List.of(settings), timer, change -> {});
        meters = new TaskMeters(
                beans.getBeanProvider(MeterRegistry.class),
                beans.getBeanProvider(TaskEngine.class),
                STUCK_AFTER,
                beans.getBeanProvider(ClusterShares.class));
        if (shared != null) {
            beans.addBean("shares", shared.apply(timer));
        }
        engine = new TaskEngine(
                limits,
                ContextPropagation.none(),
                timer,
                new TaskThreads("vt-", MeteredEngine.class.getClassLoader()),
                new CallExtensions(() -> List.of(meters.calls()), List::of),
                false);
        beans.addBean("engine", engine);
        limits.names().forEach(name -> meters.limits().customize(limits.get(name)));
        threads = Calls.byHand(engine, (task, failure) -> {});
    }

    private static StaticListableBeanFactory beans(List<MeterRegistry> registries) {
        StaticListableBeanFactory beans = new StaticListableBeanFactory();
        registries.forEach(registry -> beans.addBean("registry" + beans.getBeanDefinitionCount(), registry));
        return beans;
    }

    static MeteredEngine started(MeterRegistry registry, LimitSettings... settings) {
        MeteredEngine started = new MeteredEngine(List.of(registry), settings);
        started.meters.start();
        return started;
    }

    /** Under the limit of that name, null for none. */
    CompletableFuture<@Nullable Object> submit(@Nullable String limit, TaskBody body) {
        return submit("Shop.price", limit, body);
    }

    CompletableFuture<@Nullable Object> submit(String name, @Nullable String limit, TaskBody body) {
        return engine.submit(engine.spec(name, limit), body);
    }

    CompletableFuture<@Nullable Object> submit(Duration timeout, @Nullable String limit, TaskBody body) {
        return engine.submit(engine.spec("Shop.price", limit, timeout), body);
    }

    /** A body that runs until the gate opens; it runs when this returns. */
    CompletableFuture<@Nullable Object> hold(@Nullable String limit) throws InterruptedException {
        return hold(limit, gate::await);
    }

    /** The same, and the body takes no notice of its cancel. */
    CompletableFuture<@Nullable Object> holdStubbornly(String limit) throws InterruptedException {
        return hold(limit, () -> {
            while (gate.getCount() > 0) {
                try {
                    gate.await();
                } catch (InterruptedException ignored) {
                    // goes on
                }
            }
        });
    }

    private CompletableFuture<@Nullable Object> hold(@Nullable String limit, Wait wait) throws InterruptedException {
        CountDownLatch running = new CountDownLatch(1);
        CompletableFuture<@Nullable Object> held = submit(limit, () -> {
            running.countDown();
            wait.run();
            return null;
        });
        await(running);
        return held;
    }

    private interface Wait {

        void run() throws InterruptedException;
    }

    static void await(CountDownLatch latch) throws InterruptedException {
        if (!latch.await(2, TimeUnit.MINUTES)) {
            throw new AssertionError("nobody came within 2 minutes");
        }
    }

    /** Whether the meters hear calls. */
    boolean hears() {
        return meters.calls().hears(engine.spec("Shop.price", null));
    }

    void awaitIdle() throws InterruptedException {
        if (!threads.awaitIdle(Duration.ofMinutes(2))) {
            throw new AssertionError("calls still run");
        }
    }

    @Override
    public void close() {
        gate.countDown();
        engine.close();
        meters.destroy();
        timer.close();
    }
}
