package io.github.virtualthread.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.PermitsFrom;
import io.github.virtualthread.limit.PermitsSource;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.timer.TaskTimer;
import io.github.virtualthread.timer.TimerEntries;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** When pools are looked at. */
@Timeout(300)
class PoolPermitsTests {

    private final BlockingQueue<Thread> readers = new ArrayBlockingQueue<>(1);
    private final BlockingQueue<Integer> answers = new SynchronousQueue<>();
    private final DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
    private final TaskTimer timer = new TaskTimer("timer");
    private final LimitSettings settings =
            LimitSettings.of("partner", 1).withPermitsFrom(new PermitsFrom("clients", 0));
    private final BlockingQueue<Integer> changes = new ArrayBlockingQueue<>(10);
    private final TaskLimits limits = new TaskLimits(
            List.of(settings), timer, change -> changes.add(change.after().permits()));
    private final PoolPermits pools = permits(limits, beans, Duration.ofMillis(1));

    PoolPermitsTests() {
        PermitsSource source = () -> {
            readers.offer(Thread.currentThread());
            try {
                return answers.take();
            } catch (InterruptedException stopped) {
                throw new IllegalStateException(stopped);
            }
        };
        beans.registerSingleton("clients", source);
    }

    private PoolPermits permits(TaskLimits ofPools, DefaultListableBeanFactory factory, Duration every) {
        return new PoolPermits(
                ofPools, new PoolReader(factory, factory.getBeanProvider(PoolSizes.class)), timer, every);
    }

    @AfterEach
    void close() {
        pools.stop();
        timer.close();
        answers.offer(1);
    }

    @Test
    void aPoolIsFollowedFromTheStartOfTheApplicationOn() throws InterruptedException {
        pools.start();

        answers.put(7);
        answers.put(9);
        answers.put(9);
        answers.put(8);

        assertThat(changes.take()).isEqualTo(9);
        assertThat(changes.take()).isEqualTo(8);
        assertThat(readers.take().isVirtual()).isTrue();
    }

    @Test
    void aPoolIsFollowedHoweverSoonItIsLookedAtFirst() throws InterruptedException {
        for (int i = 0; i < 500; i++) {
            Semaphore reads = new Semaphore(0);
            DefaultListableBeanFactory factory = new DefaultListableBeanFactory();
            factory.registerSingleton("clients", (PermitsSource) () -> {
                reads.release();
                return 7;
            });
            PoolPermits followed = permits(limits, factory, Duration.ofNanos(1));

            followed.start();

            assertThat(reads.tryAcquire(3, 2, TimeUnit.MINUTES)).isTrue();
            followed.stop();
        }
    }

    /** Each of their calls needs a permit of the limit around it, too. */
    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void limitsWithinOthersDoNotOverdrawThePool(CapturedOutput output) {
        DefaultListableBeanFactory factory = new DefaultListableBeanFactory();
        factory.registerSingleton("clients", (PermitsSource) () -> 7);
        PermitsFrom clients = new PermitsFrom("clients", 0);
        TaskLimits family = new TaskLimits(
                List.of(
                        LimitSettings.of("partner", 7).withPermitsFrom(clients),
                        LimitSettings.of("slow", 7).withPermitsFrom(clients).withWithin("partner")),
                timer,
                change -> {});

        permits(family, factory, Duration.ofHours(1)).warnOfOverdraft();

        assertThat(output).doesNotContain("together allow");
    }

    @Test
    void nobodyLooksAtAPoolBeforeTheStartNorAfterTheStop() throws InterruptedException {
        assertThat(pollReader()).isNull();

        pools.start();
        assertThat(readers.take()).isNotNull();
        pools.stop(); // while somebody looks
        answers.put(7);

        assertThat(pollReader()).isNull();
    }

    @Test
    void whatIsScheduledIsForgottenByTheStop() {
        PoolPermits hourly = permits(limits, beans, Duration.ofHours(1));
        hourly.start();
        assertThat(TimerEntries.count(timer)).isEqualTo(1);

        hourly.stop();

        assertThat(TimerEntries.count(timer)).isZero();
    }

    @Test
    void aStopCanBeFollowedByAStart() throws InterruptedException {
        pools.start();
        answers.put(7);
        pools.stop();
        // on a thread of its own: a look that began before the stop may wait for its answer, and has the lock meanwhile
        Thread start = Thread.ofPlatform().daemon().start(pools::start);

        answers.put(9);

        assertThat(changes.take()).isEqualTo(9);
        start.join();
    }

    @Test
    void aFailureDoesNotEndTheFollowing() throws InterruptedException {
        pools.start();

        answers.put(7);
        answers.put(0);
        answers.put(9);

        assertThat(changes.take()).isEqualTo(9);
    }

    @Test
    void nothingIsScheduledWhereNoLimitDrawsOnAPool() {
        TaskTimer unused = new TaskTimer("timer-without-pools");
        PoolPermits idle = new PoolPermits(
                new TaskLimits(List.of(LimitSettings.of("db", 1)), unused, change -> {}),
                new PoolReader(beans, beans.getBeanProvider(PoolSizes.class)),
                unused,
                Duration.ofHours(1));

        idle.start();

        assertThat(Thread.getAllStackTraces().keySet())
                .noneMatch(thread -> thread.getName().equals("timer-without-pools"));
        idle.stop();
        unused.close();
    }

    private @Nullable Thread pollReader() throws InterruptedException {
        return readers.poll(50, TimeUnit.MILLISECONDS);
    }
}
