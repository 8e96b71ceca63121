package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.limit.LimitExceededException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;
import org.springframework.test.util.ReflectionTestUtils;

@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
@Tag("jdk")
class LifecycleTests {

    /** Boot's web servers stop in this phase, after they have drained their requests. */
    private static final int WEB_SERVER_PHASE = SmartLifecycle.DEFAULT_PHASE - 2048;

    private final Gate gate = new Gate();
    private final Resource resource = new Resource();
    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class))
            .withPropertyValues("virtual-thread.limits.db.permits=1")
            .withBean(Resource.class, () -> resource)
            .withBean(Queries.class, () -> new Queries(gate, resource));

    @Test
    void runningAndWaitingCallsFinishBeforeResourcesClose(CapturedOutput output) {
        List<CompletableFuture<Boolean>> calls = new ArrayList<>();
        runner.run(context -> {
            Queries queries = context.getBean(Queries.class);
            calls.add(queries.openAtTheEnd());
            calls.add(queries.openAtTheEnd());
            gate.started.await(2, TimeUnit.MINUTES);
            close(context.getSourceApplicationContext(GenericApplicationContext.class), queries);
        });

        assertThat(calls).allSatisfy(call -> assertThat(call).isCompletedWithValue(true));
        assertThat(output).contains("(db: 2 finished, 0 interrupted, 0 dropped");
    }

    /** Lets the calls end only when the engine has begun to drain: from then on it refuses new ones. */
    private void close(GenericApplicationContext context, Queries queries) throws InterruptedException {
        Thread closer = Thread.ofPlatform().daemon().start(context::close);
        await().atMost(Duration.ofMinutes(2))
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(1))
                .until(() -> !isAccepted(queries.probe()));
        gate.release.countDown();
        closer.join(Duration.ofMinutes(2));
    }

    private static boolean isAccepted(CompletableFuture<String> probe) {
        return probe.handle((value, refusal) -> refusal == null).join();
    }

    @Test
    void whenThePeriodIsOverTheRunningAreInterruptedAndTheWaitingDropped(CapturedOutput output) {
        List<CompletableFuture<Boolean>> calls = new ArrayList<>();
        runner.withPropertyValues("virtual-thread.shutdown.await-termination-period=1ms")
                .run(context -> {
                    Queries queries = context.getBean(Queries.class);
                    calls.add(queries.openAtTheEnd());
                    calls.add(queries.openAtTheEnd());
                    gate.started.await(2, TimeUnit.MINUTES);
                });

        assertThat(calls.get(0)).isCompletedExceptionally();
        assertThatThrownBy(() -> calls.get(0).join()).isInstanceOf(CancellationException.class);
        assertThatThrownBy(() -> calls.get(1).get())
                .cause()
                .isInstanceOfSatisfying(LimitExceededException.class, refusal -> assertThat(refusal.reason())
                        .isEqualTo(LimitExceededException.Reason.SHUTDOWN));
        assertThat(output).contains("0 finished, 1 interrupted, 1 dropped");
    }

    @Test
    void aClosedContextRefusesItsFirstCallLikeAnyOther() {
        Queries[] queries = new Queries[1];
        runner.run(context -> queries[0] = context.getBean(Queries.class));

        assertThat(queries[0].probe())
                .failsWithin(Duration.ofMinutes(2))
                .withThrowableThat()
                .withCauseInstanceOf(LimitExceededException.class);
    }

    @Test
    void requestsThatTheWebServerDrainsMayStillMakeCalls() {
        WebServer server = new WebServer();
        runner.withBean(WebServer.class, () -> server).run(context -> server.queries = context.getBean(Queries.class));

        assertThat(server.lastRequest).isCompletedWithValue("probed");
    }

    @Test
    void itStopsJustBeforeSpringsOwnExecutors() {
        runner.run(context -> assertThat(context.getBean("virtualThreadEngineLifecycle", SmartLifecycle.class)
                        .getPhase())
                .isEqualTo(ExecutorConfigurationSupport.DEFAULT_PHASE + 1)
                .isLessThan(WEB_SERVER_PHASE));
    }

    @Test
    void springSevenDoesNotPauseIt() {
        runner.run(context -> {
            Object lifecycle = context.getBean("virtualThreadEngineLifecycle");

            assertThat(ReflectionTestUtils.<Boolean>invokeMethod(lifecycle, "isPauseable"))
                    .isFalse();
        });
    }

    static class Resource implements DisposableBean {

        private volatile boolean open = true;

        @Override
        public void destroy() {
            open = false;
        }
    }

    static class Gate {

        private final CountDownLatch started = new CountDownLatch(1);
        private final CountDownLatch release = new CountDownLatch(1);
    }

    static class Queries {

        private final Gate gate;
        private final Resource resource;

        Queries(Gate gate, Resource resource) {
            this.gate = gate;
            this.resource = resource;
        }

        @VirtualThread("db")
        public CompletableFuture<Boolean> openAtTheEnd() throws InterruptedException {
            gate.started.countDown();
            gate.release.await();
            return CompletableFuture.completedFuture(resource.open);
        }

        @VirtualThread
        public CompletableFuture<String> probe() {
            return CompletableFuture.completedFuture("probed");
        }
    }

    static class WebServer implements SmartLifecycle {

        private Queries queries;
        private CompletableFuture<String> lastRequest;
        private volatile boolean running;

        @Override
        public void start() {
            running = true;
        }

        @Override
        public void stop() {
            running = false;
            lastRequest = queries.probe();
            lastRequest.join();
        }

        @Override
        public boolean isRunning() {
            return running;
        }

        @Override
        public int getPhase() {
            return WEB_SERVER_PHASE;
        }
    }
}
