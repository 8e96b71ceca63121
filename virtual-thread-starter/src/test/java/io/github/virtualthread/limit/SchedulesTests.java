package io.github.virtualthread.limit;

import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import io.github.virtualthread.timer.TaskTimer;
import java.lang.reflect.Method;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jetbrains.kotlinx.lincheck.Actor;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Validate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Two threads request and release permits, leave and resize. Lincheck switches between the threads at every access to memory that they
 * share: 2,000 times another way for each of these programs, with each kind of limit ({@code -Dschedules.switches=}). At first one
 * call has the only permit.
 */
@Timeout(600)
@Tag("slow")
class SchedulesTests {

    private static final int SWITCHES = Integer.getInteger("schedules.switches", 2_000);
    private static final TaskTimer TIMER = new TaskTimer("timer");

    /** What one thread does before, then what each of two threads does. */
    enum Program {
        RELEASE_AND_REQUEST(List.of(), List.of(release()), List.of(request(1))),
        RELEASE_AND_REQUEST_ANOTHER(List.of(), List.of(release()), List.of(request(2))),
        LEAVE_AND_RELEASE(List.of(request(1), request(2)), List.of(leave()), List.of(release())),
        GROW_AND_REQUEST(List.of(), List.of(resize(2)), List.of(request(1))),
        SHRINK_AND_GO_ON(List.of(resize(2), request(2)), List.of(resize(1), resize(2)), List.of(release(), request(1))),
        GO_ON_BOTH(List.of(), List.of(release(), request(1)), List.of(request(2), release()));

        private final List<Actor> before;
        private final List<List<Actor>> threads;

        Program(List<Actor> before, List<Actor> one, List<Actor> other) {
            this.before = before;
            this.threads = List.of(one, other);
        }

        ExecutionScenario scenario() {
            return new ExecutionScenario(before, threads, List.of(), actor("look"));
        }

        private static Actor request(int which) {
            return actor("request", which);
        }

        private static Actor release() {
            return actor("release");
        }

        private static Actor leave() {
            return actor("leave");
        }

        private static Actor resize(int permits) {
            return actor("resize", permits);
        }

        private static Actor actor(String name, Integer... arguments) {
            Method method = Stream.of(Limits.class.getMethods())
                    .filter(each -> each.getName().equals(name))
                    .findFirst()
                    .orElseThrow();
            return new Actor(method, List.of(arguments));
        }
    }

    static Stream<Arguments> programs() {
        return Stream.of(Alone.class, Within.class, Keys.class, Watched.class)
                .flatMap(limits -> Stream.of(Program.values()).map(program -> Arguments.of(limits, program)));
    }

    @ParameterizedTest
    @MethodSource("programs")
    void whenAllIsQuietNobodyWaitsBesideAFreePermitAndNoneIsLost(Class<?> limits, Program program) {
        new ModelCheckingOptions()
                .iterations(0)
                .addCustomScenario(program.scenario())
                .invocationsPerIteration(SWITCHES)
                .addGuarantee(forClasses(ConcurrentLinkedQueue.class.getName(), IdentityHashMap.class.getName())
                        .allMethods()
                        .treatAsAtomic())
                .check(limits);
    }

    public static final class Alone extends Limits {

        public Alone() {
            super(null, PLAIN);
        }
    }

    /** Every second call asks a limit around the other one. */
    public static final class Within extends Limits {

        public Within() {
            super(limit(PLAIN[1], null), PLAIN);
        }
    }

    public static final class Keys extends Limits {

        public Keys() {
            super(null, KEYED);
        }
    }

    /** With two permits it only watches. */
    public static final class Watched extends Limits {

        public Watched() {
            super(null, WATCHED);
        }
    }

    public abstract static class Limits {

        static final LimitSettings[] PLAIN = sizes(LimitSettings.UNBOUNDED);
        static final LimitSettings[] KEYED = sizes(1);
        static final LimitSettings[] WATCHED = {PLAIN[0], PLAIN[1], PLAIN[2].withDryRun(true)};
        private static final int MOST = 2;

        private final @Nullable SemaphoreLimit around;
        private final SemaphoreLimit limit;
        private final LimitSettings[] sizes;
        private final Queue<Request> requests = new ConcurrentLinkedQueue<>();
        private final AtomicInteger time = new AtomicInteger();
        private final AtomicInteger lent = new AtomicInteger();
        private volatile int most = 1; // permits at any time
        private volatile boolean lentTooMany;

        Limits(@Nullable SemaphoreLimit around, LimitSettings[] sizes) {
            this.around = around;
            this.sizes = sizes;
            this.limit = limit(sizes[1], around);
            request(1);
        }

        /** Made before: they look at their names, where Lincheck could not follow. */
        private static LimitSettings[] sizes(int permitsPerKey) {
            LimitSettings[] sizes = new LimitSettings[MOST + 1];
            for (int permits = 1; permits <= MOST; permits++) {
                sizes[permits] = LimitSettings.of("db", permits).withPermitsPerKey(permitsPerKey);
            }
            return sizes;
        }

        static SemaphoreLimit limit(LimitSettings settings, @Nullable SemaphoreLimit around) {
            return new SemaphoreLimit(settings, around, TIMER, change -> {});
        }

        public final void request(int which) {
            boolean second = which == 2;
            new Request(second && around != null ? around : limit, sizes == KEYED ? (second ? "b" : "a") : null).make();
        }

        public final void release() {
            for (Request each : requests) {
                if (each.release()) {
                    return;
                }
            }
        }

        public final void leave() {
            for (Request each : requests) {
                if (each.leaves()) {
                    return;
                }
            }
        }

        public final void resize(int permits) {
            most = Math.max(most, permits);
            (around == null ? limit : around).change(now -> sizes[permits]);
        }

        /** Plain code: Lincheck looks at this, too, and would take long to look at more. */
        @Validate
        public final void look() {
            require(!lentTooMany, "more permits lent than there ever were");
            lookAt(limit);
            if (around != null) {
                lookAt(around);
            }
            for (Request each : requests) {
                require(!each.couldGo(), "waits beside a free permit");
                for (Request other : requests) {
                    require(!other.hasOvertaken(each), "overtaken");
                }
            }
        }

        private void lookAt(SemaphoreLimit each) {
            int left = each.admission.level.permits.left();
            int all = each.isDryRun() ? Integer.MAX_VALUE : each.permits();
            require(left == all - holding(each), "a permit is lost, or lent twice");
        }

        private int holding(SemaphoreLimit of) {
            int holding = 0;
            for (Request each : requests) {
                if (each.granted && !each.over.get() && each.asked.includes(of)) {
                    holding++;
                }
            }
            return holding;
        }

        private static void require(boolean right, String otherwise) {
            if (!right) {
                throw new IllegalStateException(otherwise);
            }
        }

        private final class Request extends PermitRequest {

            private final SemaphoreLimit asked;
            private final @Nullable String key;
            private final @Nullable KeyedPlace place;
            private final AtomicBoolean over = new AtomicBoolean();
            private volatile boolean granted;
            private int begun;
            private int made;

            Request(SemaphoreLimit asked, @Nullable String key) {
                this.asked = asked;
                this.key = key;
                this.place = key == null ? null : new KeyedPlace(key, null);
            }

            void make() {
                begun = time.incrementAndGet();
                requests.add(this);
                ask(Long.MAX_VALUE);
                made = time.incrementAndGet();
            }

            boolean release() {
                boolean releases = granted && over.compareAndSet(false, true);
                if (releases) {
                    lent.decrementAndGet();
                    giveBack();
                }
                return releases;
            }

            boolean leaves() {
                boolean left = leaveQueue();
                if (left) {
                    over.set(true);
                }
                return left;
            }

            private boolean waits() {
                return !granted && !over.get();
            }

            private boolean couldGo() {
                return waits()
                        && asked.available() > 0
                        && (around == null || around.available() > 0)
                        && (key == null || asked.key(key).running() < asked.permitsPerKey());
            }

            private boolean hasOvertaken(Request other) {
                return granted
                        && other.waits()
                        && other.made < begun
                        && asked.equals(other.asked)
                        && (key == null || key.equals(other.key));
            }

            @Override
            protected TaskLimit limit() {
                return asked;
            }

            @Override
            protected @Nullable KeyedPlace place() {
                return place;
            }

            @Override
            protected void granted() {
                granted = true;
                if (lent.incrementAndGet() > most) {
                    lentTooMany = true;
                }
            }

            @Override
            protected void onStartFailed(Throwable failure) {
                throw new IllegalStateException(failure);
            }

            @Override
            protected void reportRejected(LimitExceededException.@Nullable Reason reason) {
                throw new IllegalStateException("Rejected: " + reason);
            }

            @Override
            protected void reportSoon() {}
        }
    }
}
