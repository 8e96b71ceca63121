package io.github.virtualthread.aop;

import io.github.virtualthread.Internal;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the application context whose engine runs a call of woven code.
 *
 * <p>A bean belongs to the context that made it. Other objects, and static methods, go to the context that was started last
 * and is not closed. It keeps neither beans nor anything of a closed context alive.
 */
@Internal
public final class WovenCalls {

    private static final Logger logger = LoggerFactory.getLogger(WovenCalls.class);

    static final WovenCalls SHARED = new WovenCalls();

    private final WeakIdentityMap<WovenContext> beans = new WeakIdentityMap<>();
    private final List<WovenContext> started = new CopyOnWriteArrayList<>();
    private final Set<WovenContext> inPlace = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean warned = new AtomicBoolean();

    WovenCalls() {}

    /**
     * Runs a call of a woven method as its annotation says, by the engine of a running context. Without one it runs in
     * place; the first such call is logged at WARN.
     *
     * @param call the call; {@code proceed()} may be called on another thread, once
     * @return what the caller gets
     * @throws Throwable the exception of a method that runs in place, or the rejection of a method with {@code @Limited}
     */
    public static @Nullable Object run(MethodInvocation call) throws Throwable {
        return SHARED.invoke(call);
    }

    @Nullable
    Object invoke(MethodInvocation call) throws Throwable {
        Object target = call.getThis();
        WovenContext context = target == null ? null : beans.get(target);
        if (context == null) {
            context = latest();
        }
        if (context != null) {
            return context.invoke(call);
        }
        if (inPlace.isEmpty() && !warned.get()) {
            warn(call);
        }
        return call.proceed();
    }

    private @Nullable WovenContext latest() {
        for (WovenContext each : started.reversed()) {
            return each;
        }
        return null;
    }

    private void warn(MethodInvocation call) {
        AnnotatedMethod annotated = WovenContext.resolve(call);
        if (annotated != null && warned.compareAndSet(false, true)) {
            logger.warn(
                    "{} with {} runs in place, on its caller's thread and without a limit: it is woven, but no"
                            + " application context with mode ASPECTJ has been started. Start the context first, or call the"
                            + " method later. Further calls of this kind are not logged",
                    annotated.qualifiedName(),
                    annotated.annotation());
        }
    }

    /** Calls on this object belong to that context, unless they belong to another one that is not closed. */
    void made(Object bean, WovenContext by) {
        WovenContext present = beans.get(bean);
        if (present == null || present.isClosed()) {
            beans.put(bean, by);
        }
    }

    /**
     * Registers a context that uses proxies or does not intercept at all: woven code then runs in place without a warning.
     */
    void addInPlace(WovenContext context) {
        inPlace.add(context);
    }

    /** From now on the context runs calls on objects that belong to no context. */
    void start(WovenContext context) {
        started.add(context);
    }

    void end(WovenContext context) {
        started.remove(context);
        inPlace.remove(context);
    }

    /** Another started context with the same engine. */
    @Nullable
    WovenContext sharing(WovenContext context) {
        return started.stream()
                .filter(each -> each != context && each.sharesEngine(context))
                .findFirst()
                .orElse(null);
    }

    /**
     * Maps objects to values by identity, without keeping the objects alive.
     *
     * <p>Thread-safe. The values must not refer to the keys.
     */
    static final class WeakIdentityMap<V> {

        final Map<Object, V> values = new ConcurrentHashMap<>();
        private final ReferenceQueue<Object> gone = new ReferenceQueue<>();

        void put(Object key, V value) {
            for (Reference<?> each = gone.poll(); each != null; each = gone.poll()) {
                values.remove(each);
            }
            values.put(new Key(key, gone), value);
        }

        @Nullable
        V get(Object key) {
            // creates no object if no context has woven beans
            return values.isEmpty() ? null : values.get(new Sought(key));
        }

        /** Equal to itself even after its object was collected, so that it can still be removed. */
        private static final class Key extends WeakReference<Object> {

            private final int hash;

            Key(Object object, ReferenceQueue<Object> gone) {
                super(object, gone);
                hash = System.identityHashCode(object);
            }

            @Override
            public int hashCode() {
                return hash;
            }

            @Override
            public boolean equals(@Nullable Object other) {
                return this == other || (other instanceof Key key && get() != null && key.refersTo(get()));
            }
        }

        /** Key of a look-up: not a reference, which the garbage collector would have to track. */
        private record Sought(Object object) {

            @Override
            public int hashCode() {
                return System.identityHashCode(object);
            }

            @Override
            public boolean equals(@Nullable Object other) {
                return other instanceof Key key && key.refersTo(object);
            }
        }
    }
}
