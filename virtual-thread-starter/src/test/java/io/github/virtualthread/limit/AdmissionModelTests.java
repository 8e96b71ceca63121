package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitChange.Source;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.util.ArrayList;
import java.util.Arrays;
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
    private final Map<String, AdmissionModel> models = new LinkedHashMap<>();
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
        settings.forEach(each -> models.put(each.name(), new AdmissionModel(limits.get(each.name()), each)));
        models.values().forEach(each -> each.around = models.get(String.valueOf(each.settings.within())));
        List<AdmissionModel> all = List.copyOf(models.values());
        for (int step = 0; step < 30_000; step++) {
            AdmissionModel model = all.get(random.nextInt(all.size()));
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
        for (AdmissionModel each : all) {
            while (!each.occupations.isEmpty()) {
                each.occupations.remove().close();
                begin();
            }
        }
        while (!running.isEmpty()) {
            end(random);
        }
        assertThat(waited).as("calls that have waited").isGreaterThan(1_000);
        for (AdmissionModel each : all) {
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

    private void change(TaskLimits limits, AdmissionModel model, LimitSettings settings) {
        model.settings = settings;
        limits.change(model.limit, now -> settings, Source.CODE);
        model.turnsChanged();
        begin();
    }

    private void ask(AdmissionModel model, @Nullable String key, boolean inner) {
        AdmissionModel held = inner ? model.heldBySomebody() : null;
        ModelledCall call = new ModelledCall(model, key, held, begun);
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

    private void leave(AdmissionModel model, SplittableRandom random) {
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
        for (AdmissionModel each : models.values()) {
            next = older(
                    next,
                    each.holding.stream().filter(each::couldGo).findFirst().orElse(null));
        }
        if (next == null) {
            for (AdmissionModel each : models.values()) {
                next = older(next, each.isFree() ? each.first() : null);
            }
        }
        return next;
    }

    private static @Nullable ModelledCall older(@Nullable ModelledCall one, @Nullable ModelledCall other) {
        return one == null || other != null && other.number < one.number ? other : one;
    }

    private void check(AdmissionModel model) {
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
}
