package io.github.virtualthread.migration;

import io.github.virtualthread.migration.ExecutorPools.Pool;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The limits that one application needs, by the names in its annotations and the pools that bounded these methods. */
final class Limits {

    private final Set<String> names = new TreeSet<>();
    private final Map<String, Pool> pools = new HashMap<>();

    void addAll(Set<String> moreNames, Map<String, Pool> morePools) {
        names.addAll(moreNames);
        pools.putAll(morePools);
    }

    boolean isEmpty() {
        return names.isEmpty();
    }

    /** Of the limit for annotations without a name; null if there is none of them. */
    @Nullable
    String defaultName() {
        if (!names.contains("")) {
            return null;
        }
        String bean = defaultBean();
        return bean == null || bean.equals(ExecutorPools.OF_CONFIGURER) ? "pool" : bean;
    }

    /** The executor that Spring takes for annotations without a name; null if it is that of Spring Boot. */
    private @Nullable String defaultBean() {
        for (String name : List.of(ExecutorPools.OF_CONFIGURER, "taskExecutor", "applicationTaskExecutor")) {
            if (pools.containsKey(name)) {
                return name;
            }
        }
        List<String> candidates = pools.entrySet().stream()
                .filter(pool -> pool.getValue().candidate())
                .map(Map.Entry::getKey)
                .toList();
        return candidates.size() == 1 ? candidates.get(0) : null;
    }

    /**
     * All of them, by name.
     *
     * @param defaultToo whether the one for annotations without a name is asked for
     * @param configured the numbers of Spring Boot's pool
     */
    List<Limit> all(boolean defaultToo, Pool configured) {
        Map<String, Limit> limits = new TreeMap<>();
        for (String name : names) {
            String bean = name.isEmpty() ? defaultBean() : name;
            String limit = name.isEmpty() ? defaultName() : name;
            if (limit != null && (defaultToo || !name.isEmpty())) {
                limits.put(limit, limit(limit, bean, configured));
            }
        }
        return List.copyOf(limits.values());
    }

    private Limit limit(String name, @Nullable String bean, Pool configured) {
        Pool pool = bean == null ? Pool.UNKNOWN : pools.getOrDefault(bean, Pool.UNKNOWN);
        String permits = pool.permits();
        if (permits != null) {
            String of = bean == null || bean.equals(ExecutorPools.OF_CONFIGURER) ? "getAsyncExecutor()" : bean;
            return new Limit(name, permits, pool.queue(), "the size of " + of);
        }
        String instead = bean == null ? "" : "; the size of " + bean + " is not known";
        permits = configured.permits();
        return permits != null
                ? new Limit(name, permits, configured.queue(), "spring.task.execution.pool" + instead)
                : new Limit(name, "8", null, "the size of Spring Boot's pool" + instead);
    }

    /**
     * A limit to be set.
     *
     * @param name its name
     * @param permits calls that may run at once
     * @param queue calls that may wait, null for any number
     * @param origin where the numbers are from
     */
    record Limit(String name, String permits, @Nullable String queue, String origin) {}
}
