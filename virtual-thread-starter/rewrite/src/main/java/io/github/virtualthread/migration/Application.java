package io.github.virtualthread.migration;

import io.github.virtualthread.migration.Amount.Value;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Which executor of an application runs its methods, and which limit takes its place. */
final class Application {

    private static final Pattern LIMIT = Pattern.compile("(?!none$)[\\w-]+");
    private static final String DEFAULT_LIMIT = "virtual-thread.default-limit";
    private static final String EXECUTION = "spring.task.execution.";

    private final SpringBeans beans;
    private final Settings settings;
    private final ExecutorBean springBoots;

    /**
     * Creates what is known of it.
     *
     * @param beans its own, and those of modules that it may use
     * @param settings without those of its tests
     */
    Application(SpringBeans beans, Settings settings) {
        this.beans = beans;
        this.settings = settings;
        boolean isTaken = beans.haveConfigurer() || beans.named("pool") != null;
        this.springBoots = new ExecutorBean(
                isTaken ? "applicationTaskExecutor" : "pool",
                "Spring Boot's pool",
                null,
                beans.decorateSpringBoots(),
                true,
                true,
                false);
    }

    static boolean isLimit(String name) {
        return LIMIT.matcher(name).matches();
    }

    /** What becomes of an annotation with the name of an executor; empty for one without a name. */
    Verdict verdict(String name) {
        if (!beans.enableAsync()) {
            return Verdict.stays(
                    "no class has @EnableAsync, so it does nothing today. Remove it, or add @EnableAsync.");
        }
        if (settings.unreadable() != null) {
            return Verdict.stays(settings.unreadable() + " cannot be read. Correct it.");
        }
        ExecutorBean executor = executor(name);
        if (executor != null && executor.isDecorated()) {
            return Verdict.stays(
                    executor.name() + " has a TaskDecorator that may not be a bean. Inject it as a parameter.");
        }
        if (settings.has(name.isEmpty() ? DEFAULT_LIMIT : anyOf(name))) {
            return Verdict.moves(name);
        }
        Limit limit = executor == null ? null : limit(executor, settings);
        if (limit == null) {
            return Verdict.stays(obstacle(name, executor));
        }
        return Verdict.moves(name.isEmpty() && !limit.equals(Limit.NONE) ? "" : limit.name());
    }

    private static String obstacle(String name, @Nullable ExecutorBean executor) {
        if (name.isEmpty() && executor == null) {
            return "its executor is not certain. Name one in @Async, or set " + DEFAULT_LIMIT + ".";
        }
        String remedy =
                ". Set " + (name.isEmpty() ? DEFAULT_LIMIT : "virtual-thread.limits." + name + ".permits") + ".";
        if (executor != null && executor.pool() != null && executor.pool().handlesRejections()) {
            return executor.name() + " handles rejected calls itself" + remedy;
        }
        return "the size of " + (executor == null ? name : executor.name()) + " is unknown" + remedy;
    }

    private static String anyOf(String limit) {
        return "virtual-thread.limits." + limit + ".*";
    }

    /** Null if it is not known. */
    private @Nullable ExecutorBean executor(String name) {
        boolean isSpringBootsThere = !beans.replaceSpringBoots();
        if (!name.isEmpty()) {
            boolean isSpringBoots = isSpringBootsThere && name.equals("applicationTaskExecutor");
            return isSpringBoots ? springBoots : beans.named(name);
        }
        if (isSpringBootsThere && !beans.haveConfigurer()) {
            return springBoots;
        }
        return settings.has(EXECUTION + "mode") ? null : beans.unnamed();
    }

    /** Null if its permits are not known. */
    private @Nullable Limit limit(ExecutorBean executor, Settings where) {
        Pool pool = executor.equals(springBoots) ? configured(where) : executor.pool();
        if (pool == null || (pool.isConfigured() && isChanged(where)) || !isLimit(executor.limit())) {
            return null;
        }
        Value queue = pool.queue().in(where);
        Amount size = queue.isNone() ? pool.max() : pool.core();
        Value permits = size.in(where);
        if (!queue.isNone() && !queue.isSome()) {
            return null;
        }
        if (permits.isUnbounded()) {
            return Limit.NONE;
        }
        boolean isBounded = !queue.isUnbounded();
        if (permits.mayBeUnbounded() || (isBounded && pool.handlesRejections())) {
            return null;
        }
        Value max = pool.max().in(where);
        boolean grows = isBounded && queue.isSome() && !max.equals(permits);
        return new Limit(
                executor.limit(),
                permits.is("0") ? "1" : permits.written(),
                isBounded ? queue.written() : null,
                grows ? growing(executor, max, queue) : origin(executor, size, where));
    }

    private static String growing(ExecutorBean executor, Value max, Value queue) {
        return "the core size of " + executor.name() + ", which grows"
                + (max.isUnbounded() ? "" : " to " + max.written()) + " when " + queue.written() + " calls wait";
    }

    private String origin(ExecutorBean executor, Amount size, Settings where) {
        String setting = size.setting();
        if (!executor.equals(springBoots) || setting == null) {
            return "the size of " + executor.name();
        }
        Value value = size.in(where);
        if (value.possible().size() > 1) {
            return setting + ", which profiles change";
        }
        return where.has(setting) ? setting : "the size of " + executor.name();
    }

    private static @Nullable Pool configured(Settings where) {
        Value virtual = where.value("spring.threads.virtual.enabled", "false");
        return virtual.is("true") ? Pool.SIMPLE : virtual.is("false") ? Pool.CONFIGURED : null;
    }

    /** Whether an executor of Spring Boot's settings has more than their numbers. */
    private boolean isChanged(Settings where) {
        return beans.changeSpringBoots() || where.has(EXECUTION + "simple.reject-tasks-when-limit-reached");
    }

    /** The default limit that these settings lack; null if there is none. */
    @Nullable
    String defaultLimit(Set<String> names, Settings where) {
        boolean isNeeded = names.contains("") && verdict("").limit().isEmpty() && !where.has(DEFAULT_LIMIT);
        return isNeeded ? limitName("") : null;
    }

    /** The limits that these settings lack, by name. */
    List<Limit> limits(Set<String> names, Settings where) {
        Map<String, Limit> limits = new TreeMap<>();
        for (String name : names) {
            String limit = limitName(name);
            if (isLimit(limit) && !where.has(anyOf(limit))) {
                Limit missing = settings.has(anyOf(limit)) ? asSet(limit) : sized(name, where);
                if (missing != null && missing.name().equals(limit)) {
                    limits.put(limit, missing);
                }
            }
        }
        return List.copyOf(limits.values());
    }

    private String limitName(String name) {
        String limit = verdict(name).limit();
        String set = settings.value(DEFAULT_LIMIT);
        return !limit.isEmpty()
                ? limit
                : set != null ? set : Objects.requireNonNull(executor("")).limit();
    }

    private @Nullable Limit asSet(String limit) {
        String key = "virtual-thread.limits." + limit;
        String permits = settings.value(key + ".permits");
        return permits == null
                ? null
                : new Limit(limit, permits, settings.value(key + ".queue-capacity"), "as in src/main/resources");
    }

    /** As these settings say; as those of the application say if these ask for no limit. */
    private @Nullable Limit sized(String name, Settings where) {
        ExecutorBean executor = Objects.requireNonNull(executor(name));
        Limit limit = limit(executor, where);
        return limit == null || limit.equals(Limit.NONE) ? limit(executor, settings) : limit;
    }
}
