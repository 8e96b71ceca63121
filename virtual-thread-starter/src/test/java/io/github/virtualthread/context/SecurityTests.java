package io.github.virtualthread.context;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.execution.CallExtensions;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskThreads;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.security.core.context.SecurityContextHolder;

/** Who somebody is, in the body of a task: with and without context-propagation. */
@Timeout(300)
@Tag("jdk")
class SecurityTests {

    private final TaskTimer timer = new TaskTimer("timer");
    private final TaskLimits limits = new TaskLimits(List.of(LimitSettings.of("db", 1)), timer, change -> {});
    private @Nullable TaskEngine engine;

    static Stream<ContextPropagation> propagations() {
        return Stream.of(
                ContextPropagation.none().withMdc().withSecurity(),
                ContextPropagation.none().withMdc().withRegisteredContext().withSecurity());
    }

    @AfterEach
    void close() {
        SecurityContextHolder.clearContext();
        SecurityContextHolder.setStrategyName(SecurityContextHolder.MODE_THREADLOCAL);
        if (engine != null) {
            engine.close();
        }
        timer.close();
    }

    @ParameterizedTest
    @MethodSource("propagations")
    void theBodyIsItsCallerAndTheNextIsNot(ContextPropagation propagation) {
        start(propagation);
        logIn("alice");
        CompletableFuture<@Nullable Object> alices = who();
        SecurityContextHolder.clearContext();
        CompletableFuture<@Nullable Object> nobodys = who();
        logIn("bob");
        CompletableFuture<@Nullable Object> bobs = who();

        assertThat(alices.join()).isEqualTo("alice");
        assertThat(nobodys.join()).isEqualTo("nobody");
        assertThat(bobs.join()).isEqualTo("bob");
    }

    @ParameterizedTest
    @MethodSource("propagations")
    void aWaitingCallIsTheOneWhoMadeItWhoeverStartsIt(ContextPropagation propagation) {
        SecurityContextHolder.setStrategyName(SecurityContextHolder.MODE_INHERITABLETHREADLOCAL);
        TaskEngine engine = start(propagation);
        CountDownLatch gate = new CountDownLatch(1);
        logIn("alice");
        CompletableFuture<?> running = engine.submit(engine.spec("Test.hold", "db"), () -> {
            gate.await();
            return null;
        });
        logIn("bob");
        CompletableFuture<@Nullable Object> waiting = who();

        gate.countDown();

        assertThat(waiting.join()).isEqualTo("bob");
        assertThat(running).succeedsWithin(Duration.ofMinutes(2));
    }

    @ParameterizedTest
    @MethodSource("propagations")
    void whatTheBodyMakesOfItsContextDoesNotReachItsCaller(ContextPropagation propagation) {
        TaskEngine engine = start(propagation);
        logIn("alice");

        engine.submit(engine.spec("Test.become", "db"), () -> {
                    SecurityContextHolder.getContext().setAuthentication(token("mallory"));
                    return null;
                })
                .join();

        assertThat(name()).isEqualTo("alice");
        assertThat(who().join()).isEqualTo("alice");
    }

    @ParameterizedTest
    @MethodSource("propagations")
    void aContextThatAllThreadsShareStaysAsItIs(ContextPropagation propagation) {
        SecurityContextHolder.setStrategyName(SecurityContextHolder.MODE_GLOBAL);
        TaskEngine engine = start(propagation);
        logIn("alice");

        assertThat(who().join()).isEqualTo("alice");
        engine.stop(Duration.ofMinutes(2)); // a context is taken away after the future is complete
        assertThat(name()).isEqualTo("alice");
    }

    @Test
    void whatIsSetOnAThreadIsTakenAwayAgain() {
        logIn("alice");
        CapturedContext captured = ContextPropagation.none().withSecurity().capture();
        SecurityContextHolder.clearContext();

        CapturedContext.Scope scope = ContextPropagation.open(captured);
        assertThat(name()).isEqualTo("alice");
        ContextPropagation.close(scope);

        assertThat(name()).isEqualTo("nobody");
    }

    @Test
    void aThreadGetsItsOwnContextBack() {
        logIn("bob");
        SecurityContext own = SecurityContextHolder.getContext();

        CapturedContext.Scope scope = ContextPropagation.none().withSecurity().replace(CapturedContext.EMPTY);
        assertThat(name()).isEqualTo("nobody");
        logIn("mallory");
        ContextPropagation.close(scope);

        assertThat(SecurityContextHolder.getContext()).isSameAs(own);
        assertThat(name()).isEqualTo("bob");
    }

    @Test
    void aContextThatAllThreadsShareIsNotHidden() {
        SecurityContextHolder.setStrategyName(SecurityContextHolder.MODE_GLOBAL);
        logIn("alice");

        CapturedContext.Scope scope = ContextPropagation.none().withSecurity().replace(CapturedContext.EMPTY);
        assertThat(name()).isEqualTo("alice");
        ContextPropagation.close(scope);

        assertThat(name()).isEqualTo("alice");
    }

    @Test
    void ofNobodyNothingIsCarried() {
        assertThat(ContextPropagation.none().withSecurity().capture()).isSameAs(CapturedContext.EMPTY);
    }

    @Test
    void isNotCapturedTwiceWhereTheContextIsRegisteredToo() {
        logIn("alice");

        assertThat(ContextPropagation.none().withRegisteredContext().capture()).isSameAs(CapturedContext.EMPTY);
    }

    private TaskEngine start(ContextPropagation propagation) {
        TaskEngine made = new TaskEngine(
                limits,
                propagation,
                timer,
                new TaskThreads("vt-", getClass().getClassLoader()),
                CallExtensions.NONE,
                false);
        engine = made;
        return made;
    }

    private CompletableFuture<@Nullable Object> who() {
        TaskEngine engine = Objects.requireNonNull(this.engine);
        return engine.submit(engine.spec("Test.who", "db"), SecurityTests::name);
    }

    private static void logIn(String name) {
        SecurityContextHolder.clearContext();
        SecurityContextHolder.getContext().setAuthentication(token(name));
    }

    private static Authentication token(String name) {
        return new TestingAuthenticationToken(name, "secret");
    }

    private static String name() {
        Authentication authentication = SecurityContextHolder.getContext().getAuthentication();
        return authentication == null ? "nobody" : authentication.getName();
    }
}
