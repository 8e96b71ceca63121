package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.context.CapturedContext;
import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ContextSnapshotFactory;
import io.micrometer.context.ThreadLocalAccessor;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.support.ContextPropagatingTaskDecorator;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The deadline where Micrometer's context-propagation carries it, and that it is never carried twice. */
@Timeout(300)
@Tag("jdk")
class DeadlineAccessorTests {

    private static final Duration LONG = Duration.ofHours(1);

    @RegisterExtension
    private final TestEngine test =
            new TestEngine(ContextPropagation.none().withRegisteredContext(), LimitSettings.of("db", 1));

    @Test
    void isRegisteredOnce() {
        assertThat(ContextRegistry.getInstance().getThreadLocalAccessors())
                .filteredOn(accessor -> accessor.key().equals(ContextPropagation.DEADLINE_KEY))
                .singleElement()
                .isInstanceOf(DeadlineAccessor.class);
    }

    @Test
    void setsRestoresAndRemovesIt() throws Exception {
        ThreadLocalAccessor<Deadline> accessor = new DeadlineAccessor();
        assertThat(accessor.getValue()).isNull();

        Deadline deadline = Deadline.call(LONG, accessor::getValue);
        accessor.setValue(deadline);
        assertThat(accessor.getValue()).isSameAs(deadline);
        accessor.setValue();

        assertThat(Deadline.remaining()).isEmpty();
    }

    @Test
    void reactorCarriesItToOtherThreads() throws Exception {
        Mono<String> left = Mono.just("left")
                .publishOn(Schedulers.boundedElastic())
                .<String>handle((name, sink) -> sink.next(name + isPositive(Deadline.remaining())))
                .contextCapture();

        assertThat(Deadline.call(LONG, () -> left.block(Duration.ofMinutes(2)))).isEqualTo("left true");
        assertThat(left.block(Duration.ofMinutes(2))).isEqualTo("left false");
    }

    @Test
    void aCallFromAReactorThreadHasWhatIsLeft() throws Exception {
        test.hold("db", test.latch());

        Throwable refusal = automatically(
                () -> Deadline.call(Duration.ofMillis(50), () -> Mono.fromFuture(() -> test.submit("db", () -> "ran"))
                        .subscribeOn(Schedulers.parallel())
                        .contextCapture()
                        .toFuture()
                        .handle((value, failure) -> failure)
                        .get(2, TimeUnit.MINUTES)));

        assertThat(refusal).isInstanceOfSatisfying(LimitExceededException.class, refused -> assertThat(refused.reason())
                .isEqualTo(Reason.DEADLINE));
    }

    @Test
    void anAsyncMethodHasItWhereTheContextIsPropagated() throws Exception {
        try (var context = new AnnotationConfigApplicationContext(Asynchronous.class)) {
            Mailer mailer = context.getBean(Mailer.class);

            assertThat(Deadline.call(LONG, () -> mailer.remaining().get(2, TimeUnit.MINUTES)))
                    .isPresent();
            assertThat(mailer.remaining().get(2, TimeUnit.MINUTES)).isEmpty();
        }
    }

    @Test
    void isNotAmongTheContextThatIsCaptured() throws Exception {
        ContextPropagation propagation = ContextPropagation.none().withRegisteredContext();

        assertThat(Deadline.call(LONG, propagation::capture)).isSameAs(CapturedContext.EMPTY);
    }

    @Test
    void aCallWithoutAResultDoesNotInheritIt() throws Exception {
        CompletableFuture<Optional<Duration>> seen = new CompletableFuture<>();
        Deadline.call(LONG, () -> {
            test.engine.execute(
                    test.engine.spec("Test.mail", "db"),
                    () -> seen.complete(Deadline.remaining()),
                    (task, failure) -> seen.completeExceptionally(failure));
            return null;
        });

        assertThat(seen.get(2, TimeUnit.MINUTES)).isEmpty();
    }

    @Test
    void theBodySeesItsOwnAndItsContinuationThatOfTheCaller() throws Exception {
        CountDownLatch attached = test.latch();
        TaskSpec spec = test.engine.spec("Test.call", "db", null, Duration.ofMinutes(10));
        CompletableFuture<Duration> after = Deadline.call(LONG, () -> {
            CompletableFuture<Duration> seen = test.engine
                    .submit(spec, () -> {
                        attached.await();
                        return Deadline.remaining().orElseThrow();
                    })
                    .thenApply(own -> {
                        assertThat((Duration) own).isBetween(Duration.ofMinutes(1), Duration.ofMinutes(10));
                        return Deadline.remaining().orElseThrow();
                    });
            attached.countDown();
            return seen;
        });

        assertThat(after.get(2, TimeUnit.MINUTES)).isBetween(Duration.ofMinutes(50), LONG);
    }

    /** A decorator of the application captures everything once more, on the thread of the caller. */
    @Test
    void whatADecoratorCarriesDoesNotReplaceTheDeadlineOfATask() throws Exception {
        TaskDecorator capturing =
                body -> ContextSnapshotFactory.builder().build().captureAll().wrap(body);
        try (TestEngine decorating = TestEngine.decorating(List.of(capturing))) {
            TaskSpec spec = decorating.engine.spec("Test.call", null, null, Duration.ofMinutes(10));
            CompletableFuture<Optional<Duration>> mail = new CompletableFuture<>();

            Object own = Deadline.call(LONG, () -> {
                TaskSpec withoutResult = decorating.engine.spec("Test.mail", null);
                decorating.engine.execute(
                        withoutResult,
                        () -> mail.complete(Deadline.remaining()),
                        (task, failure) -> mail.completeExceptionally(failure));
                return decorating
                        .engine
                        .submit(spec, () -> Deadline.remaining().orElseThrow())
                        .get(2, TimeUnit.MINUTES);
            });

            assertThat((Duration) own).isBetween(Duration.ofMinutes(1), Duration.ofMinutes(10));
            assertThat(mail.get(2, TimeUnit.MINUTES)).isEmpty();
        }
    }

    private static String isPositive(Optional<Duration> left) {
        return " " + left.filter(Duration::isPositive).isPresent();
    }

    private static <T> T automatically(Callable<T> task) throws Exception {
        Hooks.enableAutomaticContextPropagation();
        try {
            return task.call();
        } finally {
            Hooks.disableAutomaticContextPropagation();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync(proxyTargetClass = true)
    static class Asynchronous {

        @Bean
        SimpleAsyncTaskExecutor taskExecutor() {
            SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor();
            executor.setTaskDecorator(new ContextPropagatingTaskDecorator());
            return executor;
        }

        @Bean
        Mailer mailer() {
            return new Mailer();
        }
    }

    static class Mailer {

        @Async
        public CompletableFuture<Optional<Duration>> remaining() {
            return CompletableFuture.completedFuture(Deadline.remaining());
        }
    }
}
