package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.autoconfigure.VirtualThreadProperties.Cluster;
import io.github.virtualthread.cluster.ClusterSettings;
import io.github.virtualthread.cluster.jdbc.TableName;
import io.github.virtualthread.config.ClusterCheck;
import io.github.virtualthread.limit.Durations;
import io.github.virtualthread.mistake.Mistake;
import java.time.Duration;
import java.util.List;

/** Turns the properties of the cluster into settings, and whatever is wrong in them into mistakes. */
final class ClusterSettingsFactory {

    private static final String KEY = "virtual-thread.cluster";
    private static final Duration LEAST_LEASE = Duration.ofSeconds(1);
    private static final Duration LEAST_BEAT = Duration.ofMillis(10);

    private ClusterSettingsFactory() {}

    static ClusterSettings create(Cluster properties, List<Mistake> mistakes) {
        Duration beat = properties.beat();
        int before = mistakes.size();
        atLeast("lease", properties.lease(), LEAST_LEASE, "10s", mistakes);
        if (beat != null) {
            atLeast("beat", beat, LEAST_BEAT, "100ms", mistakes);
        }
        if (properties.replicas() != null && properties.replicas() < 1) {
            mistakes.add(new Mistake(
                    "%s.replicas must be at least 1, was %d".formatted(KEY, properties.replicas()),
                    "Set %s.replicas to the number of replicas, or remove it.".formatted(KEY)));
        }
        String table = table(properties);
        if (!table.equals(TableName.DEFAULT) && !TableName.isAllowed(table)) {
            mistakes.add(new Mistake(
                    "%s.jdbc.table %s, was '%s'".formatted(KEY, TableName.RULE, table),
                    "Set %s.jdbc.table to a name such as %s, or remove it.".formatted(KEY, TableName.EXAMPLE)));
        }
        if (mistakes.size() > before) {
            return ClusterSettings.DEFAULTS;
        }
        ClusterSettings settings = new ClusterSettings(
                SettingsFactory.text(properties.member()),
                properties.lease(),
                beat,
                properties.onFailure(),
                properties.replicas());
        if (beat != null && !settings.isLongEnoughFor(beat)) {
            mistakes.add(ClusterCheck.shortLease(KEY + ".beat", beat, settings));
        }
        return settings;
    }

    /** Name of the table of the engine jdbc; blank counts as not set. */
    static String table(Cluster properties) {
        String table = SettingsFactory.text(properties.jdbc().table());
        return table == null ? TableName.DEFAULT : table;
    }

    private static void atLeast(String key, Duration value, Duration least, String usual, List<Mistake> mistakes) {
        if (value.compareTo(least) < 0) {
            mistakes.add(new Mistake(
                    "%s.%s must be at least %s, was %s"
                            .formatted(KEY, key, Durations.text(least), Durations.text(value)),
                    "Set %s.%s to a duration such as %s, or remove it.".formatted(KEY, key, usual)));
        }
    }
}
