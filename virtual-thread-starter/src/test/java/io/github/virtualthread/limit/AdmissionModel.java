package io.github.virtualthread.limit;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.TaskLimit.KeyUse;
import io.github.virtualthread.limit.TaskLimit.Occupation;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A limit that looks at everything each time: what {@link AdmissionModelTests} compares limits with. */
final class AdmissionModel {

    private static long numbers;

    final TaskLimit limit;
    LimitSettings settings;

    @Nullable
    AdmissionModel around;

    int taken;
    final Map<String, Integer> runningOf = new HashMap<>();
    final Map<@Nullable String, Deque<ModelledCall>> lines = new HashMap<>();
    final List<@Nullable String> turns = new ArrayList<>(); // keys whose next call may run
    final Map<@Nullable String, Double> credits = new HashMap<>();
    final List<ModelledCall> holding = new ArrayList<>();
    final Deque<Occupation> occupations = new ArrayDeque<>();

    AdmissionModel(TaskLimit limit, LimitSettings settings) {
        this.limit = limit;
        this.settings = settings;
    }

    long nextNumber() {
        return numbers++;
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
    AdmissionModel heldBySomebody() {
        for (AdmissionModel each = around; each != null; each = each.around) {
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
        for (AdmissionModel each = this; each != null && each != call.held; each = each.around) {
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
        for (AdmissionModel each = this; each != null; each = each.around) {
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
        for (AdmissionModel each = this; each != null && each != call.held; each = each.around) {
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
        for (AdmissionModel each = this; each != null && each != call.held; each = each.around) {
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
