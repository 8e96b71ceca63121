package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.NO_TIME;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.virtualthread.limit.LimitSettings;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.AbstractStringAssert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.LoggerFactory;

@Timeout(value = 5, unit = TimeUnit.MINUTES)
@Tag("jdk")
class ShutdownLogTests {

    @RegisterExtension
    private final TestEngine test = new TestEngine(LimitSettings.of("mail", 1), LimitSettings.of("db", 1));

    private final CountDownLatch release = test.latch();
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @BeforeEach
    void open() {
        log.list = new CopyOnWriteArrayList<>(); // looked at while another thread logs
        log.start();
        ((Logger) LoggerFactory.getLogger(TaskEngine.class)).addAppender(log);
    }

    @AfterEach
    void stopListening() {
        ((Logger) LoggerFactory.getLogger(TaskEngine.class)).detachAppender(log);
    }

    private AbstractStringAssert<?> assertLogged() {
        return assertThat(logged("Virtual threads stopped after ")).singleElement(STRING);
    }

    private void assertLogged(String counts) {
        assertLogged().matches("Virtual threads stopped after \\d{1,5} ms: .*").endsWith(" ms: " + counts);
    }

    private List<String> logged(String begin) {
        return log.list.stream()
                .filter(event -> event.getLevel() == Level.INFO)
                .map(ILoggingEvent::getFormattedMessage)
                .filter(message -> message.startsWith(begin))
                .toList();
    }

    @Test
    void saysNothingWhereNothingRan() {
        test.submit("db", () -> null).join();
        TestEngine.awaitIdle(test); // a future is complete a moment before its call has ended

        test.engine.stop(NO_TIME);

        assertThat(log.list).isEmpty();
    }

    @Test
    void countsByLimitWhoWasInterruptedAndWhoNeverRan() {
        test.hold("db", release);
        test.submit("db", () -> null);
        test.submit("db", () -> null);
        test.hold("mail", release);
        test.hold(null, release);

        test.engine.stop(Duration.ofMillis(10));

        assertLogged("0 finished, 3 interrupted, 2 dropped (db: 0 finished, 1 interrupted, 2 dropped;"
                + " mail: 0 finished, 1 interrupted, 0 dropped; none: 0 finished, 1 interrupted, 0 dropped)");
    }

    @Test
    void countsWhoFinishedAndWhoCameTooLate() throws Exception {
        test.hold("db", release);
        test.submit("db", () -> null);
        Thread stopping = test.stopping(TestEngine.ENOUGH);
        CompletableFuture<?> late = null;
        do {
            late = test.submit("mail", () -> null);
        } while (!late.handle((value, failure) -> failure != null).join());

        release.countDown();
        stopping.join();

        assertLogged()
                .contains("db: 2 finished, 0 interrupted, 0 dropped; mail: ")
                .endsWith("0 interrupted, 1 dropped)");
    }

    @Test
    void doesNotCountWhoseCallerHasAnOutcomeAlready() throws Exception {
        test.hold("db", release).complete("mine");
        Thread stopping = test.stopping(TestEngine.ENOUGH);
        TestEngine.awaitDraining(test);

        release.countDown();
        stopping.join();

        assertLogged().contains("none: ").doesNotContain("db: ");
    }

    @Test
    void doesNotTakeBackWhatItHasNotCounted() throws Exception {
        CompletableFuture<Thread> stopping = new CompletableFuture<>();
        Task slow =
                new Task(
                        test.engine.spec("Test.task", "db"),
                        () -> {
                            throw new IllegalStateException("broken");
                        },
                        null) {
                    /** Asked while the outcome goes into the future: the stop begins, and somebody else is quicker. */
                    @Override
                    <T extends Throwable> T withCallerTrace(T failure) {
                        stopping.complete(test.stopping(TestEngine.ENOUGH));
                        // elsewhere: what a running task calls is accepted still
                        CompletableFuture.runAsync(() -> TestEngine.awaitDraining(test))
                                .join();
                        future().complete("mine");
                        return failure;
                    }
                };

        test.engine.submit(slow);
        stopping.join().join();

        assertLogged().doesNotContain("db: ");
    }

    @Tag("slow")
    @Test
    void countsACallThoughWhatHangsOnItsFutureBlocks() {
        CompletableFuture<?> unused =
                test.hold("mail", release).whenComplete((value, failure) -> TestEngine.awaitStubbornly(release));

        test.engine.stop(NO_TIME);

        assertLogged("0 finished, 1 interrupted, 0 dropped (mail: 0 finished, 1 interrupted, 0 dropped)");
    }

    @Test
    void saysWhatItWaitsFor() throws Exception {
        test.hold("db", release);
        test.hold(null, release);
        test.submit("db", () -> null);
        Thread stopping = test.stopping(Duration.ofSeconds(30));
        // without a call that asks, which would be one of those that run
        while (log.list.isEmpty()) {
            Thread.yield();
        }

        assertThat(logged("")).containsExactly("Virtual threads draining for up to 30s: 2 running, 1 waiting");
        release.countDown();
        stopping.join();
    }

    @Test
    void saysNothingOfADrainWhereNothingRuns() {
        test.engine.stop(TestEngine.ENOUGH);

        assertThat(log.list).isEmpty();
    }

    @Test
    void saysOnceHowCallsHaveEndedWhileTwoStopsGoOn() throws Exception {
        CountDownLatch first = test.latch();
        CompletableFuture<?> ended = test.hold("db", first);
        test.hold("mail", release);
        Thread stopping = test.stopping(Duration.ofMinutes(2));
        while (logged("Virtual threads draining").isEmpty()) {
            Thread.yield();
        }
        first.countDown();
        ended.join();
        Thread again = test.stopping(Duration.ofMinutes(2));
        while (again.getState() != Thread.State.TIMED_WAITING) {
            Thread.yield();
        }

        release.countDown();
        stopping.join();
        again.join();

        assertLogged().contains(" ms: 2 finished, 0 interrupted, ");
        assertThat(logged("Virtual threads draining")).hasSize(1);
    }

    @Test
    void startsCountingAnewAtTheNextStop() {
        test.hold("db", release);
        test.engine.stop(NO_TIME);
        test.engine.start();
        log.list.clear();
        test.hold("mail", release);

        test.engine.stop(NO_TIME);

        assertLogged("0 finished, 1 interrupted, 0 dropped (mail: 0 finished, 1 interrupted, 0 dropped)");
    }
}
