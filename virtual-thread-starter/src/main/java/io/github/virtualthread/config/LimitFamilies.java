package io.github.virtualthread.config;

import io.github.virtualthread.Internal;
import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.PermitsFrom;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.PropertyKeys;
import io.github.virtualthread.mistake.Spelling;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Limits as they are declared, and what is wrong with how they lie within each other. The names that limits are looked up by are
 * uniform.
 */
@Internal
public final class LimitFamilies {

    private final Map<String, LimitSettings> declared = new LinkedHashMap<>();
    private final List<Mistake> mistakes = new ArrayList<>();
    private final List<LimitSettings> limits;

    /**
     * Checks limits.
     *
     * @param limits all limits, no two with the same name
     */
    public LimitFamilies(Collection<LimitSettings> limits) {
        limits.forEach(limit -> declared.put(LimitNames.uniform(limit.name()), limit));
        // a corrected limit is no part of the cycle any more, so that each cycle is reported once
        declared.replaceAll((name, limit) -> limit.within() == null ? limit : checked(limit, limit.within()));
        this.limits = declared.values().stream()
                .sorted(Comparator.comparingInt(limit -> path(limit).size()))
                .toList();
    }

    /**
     * All limits.
     *
     * @return unmodifiable, each after the one around it; a limit with a mistake lies within none
     */
    public List<LimitSettings> limits() {
        return limits;
    }

    /**
     * All mistakes.
     *
     * @return unmodifiable; empty if there are none
     */
    public List<Mistake> mistakes() {
        return Collections.unmodifiableList(mistakes);
    }

    private LimitSettings checked(LimitSettings limit, String within) {
        LimitSettings around = declared.get(LimitNames.uniform(within));
        if (around == null) {
            mistakes.add(unknown(limit, within));
            return limit.withWithin(null);
        }
        List<LimitSettings> path = path(limit);
        LimitSettings outermost = path.get(path.size() - 1);
        if (limit.equals(around(outermost))) {
            mistakes.add(cycle(path));
            return limit.withWithin(null);
        }
        if (around.dryRun()) {
            mistakes.add(withinDryRun(limit, around));
            return limit.withWithin(null);
        }
        PermitsFrom pool = limit.permitsFrom();
        if (pool != null) {
            mistakes.add(poolWithin(limit, within, pool, outermost.name()));
            return limit.withPermitsFrom(null);
        }
        return limit;
    }

    /** The limit, the one around it, and so on; each once. */
    private List<LimitSettings> path(LimitSettings limit) {
        List<LimitSettings> path = new ArrayList<>();
        for (LimitSettings each = limit; each != null && !path.contains(each); each = around(each)) {
            path.add(each);
        }
        return path;
    }

    private @Nullable LimitSettings around(LimitSettings limit) {
        return limit.within() == null ? null : declared.get(LimitNames.uniform(limit.within()));
    }

    private static Mistake cycle(List<LimitSettings> path) {
        String first = path.get(0).name();
        if (path.size() == 1) {
            return new Mistake(
                    "Limit '%s' lies within itself".formatted(first),
                    "Set %s to the name of another limit, or remove it.".formatted(key(first)));
        }
        String names = path.stream().map(LimitSettings::name).collect(Collectors.joining(" within "));
        String keys = path.stream().map(limit -> key(limit.name())).collect(Collectors.joining(", "));
        return new Mistake(
                "Limits lie within each other: %s within %s".formatted(names, first),
                "Remove one of these properties: %s.".formatted(keys));
    }

    private Mistake unknown(LimitSettings limit, String within) {
        List<String> others = declared.values().stream()
                .filter(each -> !each.equals(limit))
                .map(LimitSettings::name)
                .sorted()
                .toList();
        String action = Spelling.question(within, others) + "Correct " + key(limit.name());
        boolean possible = LimitNames.isAllowed(within) && !LimitNames.isNone(within);
        return new Mistake(
                "Limit '%s' lies within '%s', but %s"
                        .formatted(
                                limit.name(),
                                within,
                                others.isEmpty() ? "there is no other limit" : "the other limits are " + others),
                action + (possible ? ", or set %s.permits.".formatted(PropertyKeys.limit(within)) : ", or remove it."));
    }

    private static Mistake poolWithin(LimitSettings limit, String within, PermitsFrom pool, String outermost) {
        String key = PropertyKeys.limit(limit.name());
        return new Mistake(
                "Limit '%s' has both within: %s and permits-from: %s, but the pool belongs to '%s'"
                        .formatted(limit.name(), within, pool.bean(), outermost),
                ("Replace %s.permits-from with permits, the number of calls of '%s' that may run under '%s'; set"
                                + " permits-from on '%s' only.")
                        .formatted(key, limit.name(), outermost, outermost));
    }

    private static Mistake withinDryRun(LimitSettings limit, LimitSettings around) {
        return new Mistake(
                "Limit '%s' lies within '%s', whose dry-run must be false then, because a dry run watches one queue"
                        .formatted(limit.name(), around.name()),
                "Remove %s.dry-run, or remove %s for the time of the dry run."
                        .formatted(PropertyKeys.limit(around.name()), key(limit.name())));
    }

    private static String key(String limit) {
        return PropertyKeys.limit(limit) + ".within";
    }
}
