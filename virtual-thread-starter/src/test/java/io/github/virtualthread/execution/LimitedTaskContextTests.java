package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import brave.Tracing;
import brave.context.slf4j.MDCScopeDecorator;
import brave.propagation.ThreadLocalCurrentTraceContext;
import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.limit.LimitSettings;
import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ThreadLocalAccessor;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.brave.bridge.BraveCurrentTraceContext;
import io.micrometer.tracing.brave.bridge.BraveTracer;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;
import org.springframework.core.task.support.ContextPropagatingTaskDecorator;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.security.core.context.SecurityContextHolder;

/** The context of a limited task, and that of the thread that calls it, with Micrometer, Brave and Spring Security. */
@Timeout(300)
@Tag("jdk")
class LimitedTaskContextTests {

    private static final int TASKS = 10_000;
    private static final ThreadLocal<@Nullable String> TENANT = new ThreadLocal<>();

    private final Tracing tracing = Tracing.newBuilder()
            .currentTraceContext(ThreadLocalCurrentTraceContext.newBuilder()
                    .addScopeDecorator(MDCScopeDecorator.get())
                    .build())
            .build();
    private final Tracer tracer =
            new BraveTracer(tracing.tracer(), new BraveCurrentTraceContext(tracing.currentTraceContext()));
    private final ObservationRegistry observations = ObservationRegistry.create();
    private final ThreadPoolTaskExecutor pool = new ThreadPoolTaskExecutor();

    /** Where tasks are called. */
    private enum Caller {
        POOL,
        DECORATED_POOL,
        INLINE
    }

    /** What a task sees. */
    private record Visible(
            @Nullable String tenant,
            Map<String, String> mdc,
            @Nullable Authentication user,
            @Nullable String span) {}

    /** All that a thread has. */
    private record State(
            Visible visible, @Nullable Observation observation, int openScopes, Identity<SecurityContext> security) {}

    /** Equal to nothing but the same object. */
    private record Identity<T>(T object) {

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Identity<?> identity && identity.object == object;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(object);
        }
    }

    @BeforeEach
    void open() {
        observations.observationConfig().observationHandler(new DefaultTracingObservationHandler(tracer));
        ContextRegistry.getInstance().registerThreadLocalAccessor("tenant", TENANT);
        pool.setCorePoolSize(1);
    }

    @AfterEach
    void close() {
        pool.shutdown();
        tracing.close();
        ContextRegistry.getInstance().removeThreadLocalAccessor("tenant");
    }

    static Stream<Arguments> cases() {
        List<Boolean> both = List.of(true, false);
        return Stream.of(Caller.values()).flatMap(caller -> both.stream()
                .flatMap(allKeys -> both.stream().flatMap(makerHas -> both.stream()
                        .map(threadHas -> Arguments.of(caller, allKeys, makerHas, threadHas)))));
    }

    @ParameterizedTest(name = "{0}, all keys of the MDC: {1}, maker has a context: {2}, thread has one: {3}")
    @MethodSource("cases")
    void aThreadIsAsItWasHoweverManyTasksItHasCalled(
            Caller caller, boolean allKeys, boolean makerHas, boolean threadHas) throws Exception {
        ContextPropagation mdc = allKeys
                ? ContextPropagation.none().withMdc()
                : ContextPropagation.none().withMdc(List.of("user"));
        try (TestEngine test = new TestEngine(mdc.withRegisteredContext().withSecurity(), LimitSettings.of("db", 1))) {
            Runnable leave = makerHas ? enter("alice") : () -> {};
            Callable<Visible> task =
                    new VirtualThreads(test.engine, (name, failure) -> {}).limited("db", () -> state().visible());
            Visible ofMaker = state().visible();
            leave.run();
            if (!allKeys) {
                ofMaker.mdc().remove("color");
            }

            Executor thread = thread(caller);
            if (threadHas && caller == Caller.POOL) {
                on(thread, () -> enter("bob"));
            } else if (threadHas) {
                enter("bob"); // the decorator carries it to the thread
            }
            State before = on(thread, this::state);
            State beneath = beneath(caller);
            List<FutureTask<Visible>> calls =
                    Stream.generate(() -> new FutureTask<>(task)).limit(TASKS).toList();
            calls.forEach(thread::execute);

            assertThat(on(thread, this::state)).isEqualTo(before);
            assertThat(beneath(caller)).isEqualTo(beneath);
            assertThat(calls).extracting(FutureTask::get).containsOnly(ofMaker);
        }
    }

    @Test
    void anAccessorThatFailsLeavesTheOthers() throws Exception {
        Logger log = (Logger) LoggerFactory.getLogger(ContextPropagation.class);
        log.setLevel(Level.OFF);
        ContextRegistry.getInstance()
                .registerThreadLocalAccessor("unreadable", LimitedTaskContextTests::fail, value -> {}, () -> {})
                .registerThreadLocalAccessor(new Unremovable());
        try (TestEngine test = new TestEngine(
                ContextPropagation.none().withMdc().withRegisteredContext().withSecurity(),
                LimitSettings.of("db", 1))) {
            Runnable leave = enter("alice");
            Callable<Visible> task =
                    new VirtualThreads(test.engine, (name, failure) -> {}).limited("db", () -> state().visible());
            Visible ofMaker = state().visible();
            leave.run();
            enter("bob");
            State before = state();

            for (int i = 0; i < TASKS; i++) {
                assertThat(task.call()).isEqualTo(ofMaker);
            }
            assertThat(state()).isEqualTo(before);
        } finally {
            ContextRegistry.getInstance().removeThreadLocalAccessor("unreadable");
            ContextRegistry.getInstance().removeThreadLocalAccessor(Unremovable.class);
            log.setLevel(null);
        }
    }

    /** Has a value on each thread, which it neither removes nor puts back. */
    private static final class Unremovable implements ThreadLocalAccessor<String> {

        @Override
        public Object key() {
            return Unremovable.class;
        }

        @Override
        public String getValue() {
            return "there";
        }

        @Override
        public void setValue(String value) {
            fail();
        }

        @Override
        public void setValue() {
            fail();
        }
    }

    private static @Nullable Object fail() {
        throw new AssertionError("broken");
    }

    private Executor thread(Caller caller) {
        if (caller == Caller.INLINE) {
            return Runnable::run;
        }
        if (caller == Caller.DECORATED_POOL) {
            pool.setTaskDecorator(new ContextPropagatingTaskDecorator());
        }
        pool.initialize();
        return pool;
    }

    /** What the thread has on which tasks are called, without what a decorator puts there. */
    private State beneath(Caller caller) throws Exception {
        return on(caller == Caller.INLINE ? Runnable::run : pool.getThreadPoolExecutor(), this::state);
    }

    private static <T> T on(Executor thread, Callable<T> work) throws Exception {
        FutureTask<T> task = new FutureTask<>(work);
        thread.execute(task);
        return task.get(2, TimeUnit.MINUTES);
    }

    /** Gives the current thread one value of each kind. */
    private Runnable enter(String name) {
        TENANT.set(name);
        MDC.put("user", name);
        MDC.put("color", name);
        SecurityContext security = SecurityContextHolder.createEmptyContext();
        security.setAuthentication(new TestingAuthenticationToken(name, "secret"));
        SecurityContextHolder.setContext(security);
        Observation.Scope scope = Observation.start(name, observations).openScope();
        return () -> {
            scope.close();
            TENANT.remove();
            MDC.clear();
            SecurityContextHolder.clearContext();
        };
    }

    private State state() {
        Span span = tracer.currentSpan();
        int scopes = 0;
        Observation.Scope scope = observations.getCurrentObservationScope();
        while (scope != null) {
            scopes++;
            scope = scope.getPreviousObservationScope();
        }
        SecurityContext security = SecurityContextHolder.getContext();
        Map<String, String> mdc = Objects.requireNonNullElse(MDC.getCopyOfContextMap(), Map.of());
        return new State(
                new Visible(
                        TENANT.get(),
                        new HashMap<>(mdc),
                        security.getAuthentication(),
                        span == null ? null : span.context().spanId()),
                observations.getCurrentObservation(),
                scopes,
                new Identity<>(security));
    }
}
