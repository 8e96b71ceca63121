package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitChange.Source;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.TaskLimit.KeyUse;
import io.github.virtualthread.limit.TaskLimit.Occupation;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Limits do what a model does that needs no speed: whatever happens, the same calls begin in the same order. */
@Timeout(600)
@Tag("slow")
class AdmissionModelTests extends TimedLimits {

    private static final List<String> KEYS = Arrays.asList(null, "acme", "bolt", "crux");
    private static final double[] WEIGHTS = {0.125, 0.5, 1, 2.5, 4}; // sums of these are exact

    private final List<ModelledCall> begun = new ArrayList<>();
    private final List<ModelledCall> expected = new ArrayList<>();
    private final List<ModelledCall> running = new ArrayList<>();
    private final Map<String, Model> models = new LinkedHashMap<>();
    private int waited; // how many calls began after they had waited

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void theSameCallsBeginInTheSameOrder(int depth) {
        long seed = Long.getLong("stress.seed", System.nanoTime());
        System.out.println("stress.seed=" + seed);
        SplittableRandom random = new SplittableRandom(seed);
        List<LimitSettings> settings = new ArrayList<>();
        settings.add(LimitSettings.of("db", 4).withQueueCapacity(12).withKeyWeights(weights(random)));
        if (depth > 0) {
            settings.add(LimitSettings.of("report", 3).withWithin("db").withPermitsPerKey(2));
        }
        if (depth > 1) {
            settings.add(LimitSettings.of("mail", 2)
                    .withWithin("db")
                    .withQueueCapacityPerKey(3)
                    .withKeyWeights(weights(random)));
        }
        if (depth > 2) {
            settings.add(LimitSettings.of("tiny", 1).withWithin("report").withPermitsPerKey(1));
        }
        TaskLimits limits = new TaskLimits(settings, timer, change -> {});
        settings.forEach(each -> models.put(each.name(), new Model(limits.get(each.name()), each)));
        models.values().forEach(each -> each.around = models.get(String.valueOf(each.settings.within())));
        List<Model> all = List.copyOf(models.values());
        for (int step = 0; step < 30_000; step++) {
            Model model = all.get(random.nextInt(all.size()));
            switch (random.nextInt(40)) {
                case 0 -> {
                    int permits = 1 + random.nextInt(5);
                    change(limits, model, model.settings.withPermits(permits));
                }
                case 1 -> {
                    int perKey = random.nextBoolean() ? LimitSettings.UNBOUNDED : 1 + random.nextInt(3);
                    change(limits, model, model.settings.withPermitsPerKey(perKey));
                }
                case 2 -> {
                    if (model.occupations.size() < 2 && random.nextInt(4) == 0) {
                        model.occupations.add(model.limit.occupy());
                    }
                }
                case 3 -> {
                    if (!model.occupations.isEmpty()) {
                        model.occupations.remove().close();
                        begin();
                    }
                }
                case 4 -> {
                    if (random.nextInt(10) == 0 && !model.settings.keyWeights().isEmpty()) {
                        change(limits, model, model.settings.withKeyWeights(weights(random)));
                    } else if (random.nextInt(10) == 0) {
                        assertThat(limits.evictWaiting(model.limit.name())).isEqualTo(model.waiting());
                        model.clear();
                    }
                }
                case 5, 6, 7 -> leave(model, random);
                case 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 -> end(random);
                default -> {
                    if (model.waiting() < 40) {
                        ask(model, KEYS.get(random.nextInt(KEYS.size())), random.nextInt(4) == 0);
                    }
                }
            }
            check(model);
        }
        for (Model each : all) {
            while (!each.occupations.isEmpty()) {
                each.occupations.remove().close();
                begin();
            }
        }
        while (!running.isEmpty()) {
            end(random);
        }
        assertThat(waited).as("calls that have waited").isGreaterThan(1_000);
        for (Model each : all) {
            check(each);
            assertThat(each.limit.waiting()).isZero();
            assertThat(each.limit.available()).isEqualTo(each.limit.permits());
            assertThat(each.limit.keys()).isZero();
        }
    }

    private static Map<String, Double> weights(SplittableRandom random) {
        return KEYS.stream()
                .filter(Objects::nonNull)
                .collect(Collectors.toMap(key -> key, key -> WEIGHTS[random.nextInt(WEIGHTS.length)]));
    }

    private void change(TaskLimits limits, Model model, LimitSettings settings) {
        model.settings = settings;
        limits.change(model.limit, now -> settings, Source.CODE);
        model.turnsChanged();
        begin();
    }

    private void ask(Model model, @Nullable String key, boolean inner) {
        Model held = inner ? model.heldBySomebody() : null;
        ModelledCall call = new ModelledCall(model, key, held);
        Reason refused = call.ask();
        if (model.anybodyBefore(call) || !model.couldGo(call)) {
            assertThat(refused).isEqualTo(model.refusal(key));
            if (refused == null) {
                model.add(call);
            }
        } else {
            assertThat(refused).isNull();
            model.take(call, false);
            expected.add(call);
            running.add(call);
        }
        begin();
    }

    private void leave(Model model, SplittableRandom random) {
        List<ModelledCall> waiting = model.all();
        if (!waiting.isEmpty()) {
            ModelledCall call = waiting.get(random.nextInt(waiting.size()));
            assertThat(call.leaveQueue()).isTrue();
            model.remove(call);
        }
    }

    private void end(SplittableRandom random) {
        if (!running.isEmpty()) {
            ModelledCall call = running.remove(random.nextInt(running.size()));
            call.model.giveBack(call);
            call.giveBack();
            begin();
        }
    }

    /** Begins all that can: first those whose threads hold an outer permit, then those that have waited longest. */
    private void begin() {
        for (ModelledCall next = next(); next != null; next = next()) {
            waited++;
            boolean goesOn = next.held == null && next.model.goesOn(next.key);
            next.model.remove(next);
            next.model.take(next, goesOn);
            expected.add(next);
            running.add(next);
        }
    }

    private @Nullable ModelledCall next() {
        ModelledCall next = null;
        for (Model each : models.values()) {
            next = older(
                    next,
                    each.holding.stream().filter(each::couldGo).findFirst().orElse(null));
        }
        if (next == null) {
            for (Model each : models.values()) {
                next = older(next, each.isFree() ? each.first() : null);
            }
        }
        return next;
    }

    private static @Nullable ModelledCall older(@Nullable ModelledCall one, @Nullable ModelledCall other) {
        return one == null || other != null && other.number < one.number ? other : one;
    }

    private void check(Model model) {
        int same = 0;
        while (same < Math.min(begun.size(), expected.size()) && begun.get(same).equals(expected.get(same))) {
            same++;
        }
        assertThat(begun.stream().skip(same).limit(5))
                .containsExactlyElementsOf(expected.stream().skip(same).limit(5).toList());
        if (begun.size() > 1_000) {
            begun.clear();
            expected.clear();
        }
        assertThat(model.limit.waiting()).isEqualTo(model.waiting());
        assertThat(model.limit.available()).isEqualTo(Math.max(0, model.free()));
        for (String key : KEYS.subList(1, KEYS.size())) {
            long waiting =
                    model.all().stream().filter(each -> key.equals(each.key)).count();
            assertThat(model.limit.key(key)).isEqualTo(model.use(key, (int) waiting));
        }
    }

    private final class ModelledCall extends Call {

        private final Model model;
        private final @Nullable String key;
        private final @Nullable Model held;
        private final long number = Model.numbers++;

        ModelledCall(Model model, @Nullable String key, @Nullable Model held) {
            super(model.limit, key, held == null ? null : held.limit);
            this.model = model;
            this.key = key;
            this.held = held;
        }

        @Override
        protected void granted() {
            begun.add(this);
        }

        @Override
        public String toString() {
            return "%d %s %s%s"
                    .formatted(number, model.limit.name(), key, held == null ? "" : " holding " + held.limit.name());
        }
    }

    /** A limit that looks at everything each time. */
    private final class Model {

        private static long numbers;

        private final TaskLimit limit;
        private LimitSettings settings;
        private @Nullable Model around;
        private int taken;
        private final Map<String, Integer> runningOf = new HashMap<>();
        private final Map<@Nullable String, Deque<ModelledCall>> lines = new HashMap<>();
        private final List<@Nullable String> turns = new ArrayList<>(); // keys whose next call may run
        private final Map<@Nullable String, Double> credits = new HashMap<>();
        private final List<ModelledCall> holding = new ArrayList<>();
        private final Deque<Occupation> occupations = new ArrayDeque<>();

        Model(TaskLimit limit, LimitSettings settings) {
            this.limit = limit;
            this.settings = settings;
        }

        int free() {
            return (occupations.isEmpty() ? settings.permits() : 0) - taken;
        }

        List<ModelledCall> all() {
            List<ModelledCall> all = new ArrayList<>(holding);
            lines.values().forEach(all::addAll);
            return all;
        }

        int waiting() {
            return all().size();
        }

        /** A limit around of which some call holds a permit, as the thread of a nested call does. */
        @Nullable
        Model heldBySomebody() {
            for (Model each = around; each != null; each = each.around) {
                if (each.taken > 0) {
                    return each;
                }
            }
            return null;
        }

        boolean mayRun(@Nullable String key) {
            return key == null || runningOf.getOrDefault(key, 0) < settings.permitsPerKey();
        }

        boolean couldGo(ModelledCall call) {
            boolean free = mayRun(call.key);
            for (Model each = this; each != null && each != call.held; each = each.around) {
                free &= each.free() > 0;
            }
            return free;
        }

        boolean anybodyBefore(ModelledCall call) {
            return call.held == null ? !turns.isEmpty() : holding.stream().anyMatch(this::couldGo);
        }

        KeyUse use(String key, int waiting) {
            int running = runningOf.getOrDefault(key, 0);
            boolean known = running + waiting > 0 && !settings.keyWeights().isEmpty();
            return new KeyUse(key, running, waiting, known ? weight(key) : null);
        }

        double weight(@Nullable String key) {
            return key == null ? 1 : settings.keyWeights().getOrDefault(key, 1.0);
        }

        boolean isFree() {
            boolean free = true;
            for (Model each = this; each != null; each = each.around) {
                free &= each.free() > 0;
            }
            return free;
        }

        private double capacityOf(String key) {
            int capacity = settings.queueCapacityPerKey();
            return capacity == LimitSettings.UNBOUNDED ? capacity : Math.max(1, Math.round(capacity * weight(key)));
        }

        @Nullable
        Reason refusal(@Nullable String key) {
            long ofKey = all().stream()
                    .filter(each -> key != null && key.equals(each.key))
                    .count();
            if (key != null && ofKey >= capacityOf(key)) {
                return Reason.KEY_QUEUE_FULL;
            }
            return waiting() >= settings.queueCapacity() ? Reason.QUEUE_FULL : null;
        }

        @Nullable
        ModelledCall first() {
            while (!turns.isEmpty()) {
                String key = turns.get(0);
                double credit = credits.getOrDefault(key, 0.0);
                credits.put(key, credit < 1 ? credit + weight(key) : credit);
                if (credits.get(key) >= 1) {
                    return lines.get(key).peek();
                }
                turns.add(turns.remove(0));
            }
            return null;
        }

        /** A call of the key goes in its turn; whether the next one goes in the same turn. */
        boolean goesOn(@Nullable String key) {
            return credits.merge(key, -1.0, Double::sum) >= 1;
        }

        void add(ModelledCall call) {
            if (call.held == null) {
                lines.computeIfAbsent(call.key, key -> new ArrayDeque<>()).add(call);
            } else {
                holding.add(call);
            }
            turnsChanged();
        }

        void remove(ModelledCall call) {
            holding.remove(call);
            lines.getOrDefault(call.key, new ArrayDeque<>()).remove(call);
            turnsChanged();
        }

        void take(ModelledCall call, boolean goesOn) {
            for (Model each = this; each != null && each != call.held; each = each.around) {
                each.taken++;
            }
            if (call.key != null) {
                runningOf.merge(call.key, 1, Integer::sum);
            }
            if (!goesOn && (call.held == null || call.key != null)) {
                turns.remove(call.key); // its next turn comes after all others
            }
            turnsChanged();
        }

        void giveBack(ModelledCall call) {
            for (Model each = this; each != null && each != call.held; each = each.around) {
                each.taken--;
            }
            if (call.key != null) {
                runningOf.computeIfPresent(call.key, (key, number) -> number == 1 ? null : number - 1);
            }
            turnsChanged();
        }

        void turnsChanged() {
            turns.removeIf(key -> lines.get(key).isEmpty() || !mayRun(key));
            credits.keySet().removeIf(key -> lines.get(key).isEmpty());
            // a change of the permits may let several in: in the order of the limit's own map, which is not promised
            lines.forEach((key, line) -> {
                if (!line.isEmpty() && mayRun(key) && !turns.contains(key)) {
                    turns.add(key);
                }
            });
        }

        void clear() {
            holding.clear();
            lines.values().forEach(Deque::clear);
            turnsChanged();
        }
    }
}
