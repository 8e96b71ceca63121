package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.execution.TaskCall;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.observation.DefaultTaskObservationConvention;
import io.github.virtualthread.observation.TaskObservationContext;
import io.micrometer.common.KeyValues;
import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ThreadLocalAccessor;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.config.MeterFilterReply;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;
import org.slf4j.spi.MDCAdapter;
import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.task.TaskDecorator;
import org.springframework.test.util.ReflectionTestUtils;

/** What can be broken in an application around its calls. */
enum Fault {
    MDC_CAPTURE((runner, breaker) -> mdc(runner, breaker, "getCopyOfContextMap")),
    MDC_CAPTURE_OF_KEYS((runner, breaker) ->
            mdc(runner, breaker, "get").withPropertyValues("virtual-thread.propagation.mdc-keys=user")),
    MDC_RESTORE((runner, breaker) -> mdc(runner, breaker, "setContextMap")),
    MDC_CLEAR((runner, breaker) -> mdc(runner, breaker, "clear")),
    CONTEXT_CAPTURE((runner, breaker) -> accessor(runner, new BrokenAccessor(breaker, "getValue"))),
    CONTEXT_RESTORE((runner, breaker) -> accessor(runner, new BrokenAccessor(breaker, "setValue"))),
    CONTEXT_CLEAR((runner, breaker) -> accessor(runner, new BrokenAccessor(breaker, "reset"))),
    LISTENER((runner, breaker) -> runner.withBean(TaskListener.class, () -> new BrokenListener(breaker))),
    DECORATOR((runner, breaker) -> decorator(runner, body -> breaker.strike())),
    DECORATOR_BEFORE((runner, breaker) -> decorator(runner, body -> () -> breaker.strike())),
    DECORATOR_AFTER((runner, breaker) -> decorator(runner, body -> () -> {
        body.run();
        breaker.strike();
    })),
    HANDLER((runner, breaker) -> runner.withBean(
            AsyncUncaughtExceptionHandler.class, () -> (failure, method, arguments) -> breaker.strike())),
    METER_REGISTRATION((runner, breaker) -> runner.withBean(MeterRegistry.class, () -> refusing(breaker))),
    CONVENTION_OF_NAMES((runner, breaker) -> convention(runner, breaker, "name")),
    CONVENTION_OF_KEYS((runner, breaker) -> convention(runner, breaker, "keys")),
    OBSERVATION_START((runner, breaker) -> observation(runner, breaker, "onStart")),
    OBSERVATION_SCOPE_OPENED((runner, breaker) -> observation(runner, breaker, "onScopeOpened")),
    OBSERVATION_SCOPE_CLOSED((runner, breaker) -> observation(runner, breaker, "onScopeClosed")),
    OBSERVATION_ERROR((runner, breaker) -> observation(runner, breaker, "onError")),
    OBSERVATION_STOP((runner, breaker) -> observation(runner, breaker, "onStop"));

    private static final MDCAdapter MDC_ADAPTER = MDC.getMDCAdapter();

    /** A body must not run without what its decorators set, such as a tenant: these faults fail the call. */
    static final Set<Fault> FATAL = Set.of(DECORATOR, DECORATOR_BEFORE);

    private final BiFunction<ApplicationContextRunner, Breaker, ApplicationContextRunner> injection;

    Fault(BiFunction<ApplicationContextRunner, Breaker, ApplicationContextRunner> injection) {
        this.injection = injection;
    }

    ApplicationContextRunner in(ApplicationContextRunner runner, Breaker breaker) {
        return injection.apply(runner, breaker);
    }

    /** Mends what is broken for the whole JVM. */
    static void mend() {
        ReflectionTestUtils.setField(MDC.class, "MDC_ADAPTER", MDC_ADAPTER);
        ContextRegistry.getInstance().removeThreadLocalAccessor(Fault.class);
    }

    /** There is something in the MDC, always: else nothing would be restored. */
    private static ApplicationContextRunner mdc(ApplicationContextRunner runner, Breaker breaker, String broken) {
        Object adapter = Proxy.newProxyInstance(
                Fault.class.getClassLoader(), new Class<?>[] {MDCAdapter.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals(broken)) {
                        breaker.strike();
                    }
                    return switch (method.getName()) {
                        case "getCopyOfContextMap" -> Map.of("user", "alice");
                        case "get" -> "alice";
                        default -> method.invoke(MDC_ADAPTER, arguments);
                    };
                });
        return runner.withInitializer(context -> ReflectionTestUtils.setField(MDC.class, "MDC_ADAPTER", adapter));
    }

    private static ApplicationContextRunner accessor(ApplicationContextRunner runner, BrokenAccessor accessor) {
        return runner.withInitializer(context -> ContextRegistry.getInstance().registerThreadLocalAccessor(accessor));
    }

    private static ApplicationContextRunner decorator(ApplicationContextRunner runner, TaskDecorator decorator) {
        return runner.withBean(TaskDecorator.class, () -> decorator);
    }

    private static MeterRegistry refusing(Breaker breaker) {
        MeterRegistry registry = new SimpleMeterRegistry();
        registry.config().meterFilter(new MeterFilter() {
            @Override
            public MeterFilterReply accept(Meter.Id id) {
                return breaker.strike();
            }
        });
        return registry;
    }

    private static ApplicationContextRunner convention(
            ApplicationContextRunner runner, Breaker breaker, String broken) {
        return observed(runner, new ObservationHandler<>() {
                    @Override
                    public boolean supportsContext(Observation.Context context) {
                        return true;
                    }
                })
                .withBean(BrokenConvention.class, () -> new BrokenConvention(breaker, broken));
    }

    @SuppressWarnings("unchecked")
    private static ApplicationContextRunner observation(
            ApplicationContextRunner runner, Breaker breaker, String broken) {
        return observed(runner, (ObservationHandler<Observation.Context>) Proxy.newProxyInstance(
                Fault.class.getClassLoader(),
                new Class<?>[] {ObservationHandler.class},
                (proxy, method, arguments) -> method.getName().equals(broken)
                        ? breaker.strike()
                        : method.getReturnType() == boolean.class ? true : null));
    }

    private static ApplicationContextRunner observed(
            ApplicationContextRunner runner, ObservationHandler<Observation.Context> handler) {
        ObservationRegistry registry = ObservationRegistry.create();
        registry.observationConfig().observationHandler(handler);
        return runner.withPropertyValues("virtual-thread.observation.enabled=true")
                .withBean(ObservationRegistry.class, () -> registry);
    }

    private record BrokenListener(Breaker breaker) implements TaskListener {

        @Override
        public void submitted(TaskCall call) {
            breaker.strike();
        }

        @Override
        public void started(TaskCall call) {
            breaker.strike();
        }

        @Override
        public void finished(TaskCall call, Outcome outcome, @Nullable Throwable failure) {
            breaker.strike();
        }

        @Override
        public void rejected(TaskCall call, LimitExceededException rejection) {
            breaker.strike();
        }
    }

    private static final class BrokenConvention extends DefaultTaskObservationConvention {

        private final Breaker breaker;
        private final String broken;

        BrokenConvention(Breaker breaker, String broken) {
            this.breaker = breaker;
            this.broken = broken;
        }

        @Override
        public String getName() {
            return broken.equals("name") ? breaker.strike() : super.getName();
        }

        @Override
        public KeyValues getLowCardinalityKeyValues(TaskObservationContext context) {
            return broken.equals("keys") ? breaker.strike() : super.getLowCardinalityKeyValues(context);
        }
    }

    private record BrokenAccessor(Breaker breaker, String broken) implements ThreadLocalAccessor<String> {

        private static final ThreadLocal<String> VALUE = ThreadLocal.withInitial(() -> "value");

        @Override
        public Object key() {
            return Fault.class;
        }

        @Override
        public String getValue() {
            return broken.equals("getValue") ? breaker.strike() : VALUE.get();
        }

        @Override
        public void setValue(String value) {
            if (broken.equals("setValue")) {
                breaker.strike();
            }
            VALUE.set(value);
        }

        @Override
        public void setValue() {
            VALUE.remove();
        }

        @Override
        public void restore(String previous) {
            if (broken.equals("reset")) {
                breaker.strike();
            }
            VALUE.set(previous);
        }
    }
}
