package io.github.virtualthread.autoconfigure.properties;

import io.github.virtualthread.Internal;
import io.github.virtualthread.autoconfigure.properties.VirtualThreadProperties.Cluster;
import io.github.virtualthread.cluster.ClusterSettings;
import io.github.virtualthread.cluster.jdbc.TableName;
import io.github.virtualthread.config.ClusterCheck;
import io.github.virtualthread.limit.Durations;
import io.github.virtualthread.mistake.Mistake;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Turns the properties of the cluster into settings, and whatever is wrong in them into mistakes. */
@Internal
public final class ClusterSettingsFactory {

    private static final String KEY = "virtual-thread.cluster";
    private static final Duration LEAST_LEASE = Duration.ofSeconds(1);
    private static final Duration LEAST_BEAT = Duration.ofMillis(10);

    private final Cluster properties;
    private final List<Mistake> mistakes = new ArrayList<>();

    private ClusterSettingsFactory(Cluster properties) {
        this.properties = properties;
    }

    /**
     * Settings of an application.
     *
     * @param mistakes gets what is wrong
     * @return the defaults if something is wrong
     */
    static ClusterSettings create(Cluster properties, List<Mistake> mistakes) {
        ClusterSettingsFactory factory = new ClusterSettingsFactory(properties);
        ClusterSettings settings = factory.settings();
        mistakes.addAll(factory.mistakes);
        return settings;
    }

    private ClusterSettings settings() {
        Duration lease = properties.lease();
        Duration beat = properties.beat();
        checkLeast("lease", lease, LEAST_LEASE, "10s");
        if (beat != null) {
            checkLeast("beat", beat, LEAST_BEAT, "100ms");
        }
        checkReplicas();
        checkTable();
        if (!mistakes.isEmpty()) {
            return ClusterSettings.DEFAULTS;
        }
        String member = BlankCountsAsNotSet.text(properties.member());
        ClusterSettings settings =
                new ClusterSettings(member, lease, beat, properties.onFailure(), properties.replicas());
        if (beat != null && !settings.isLongEnoughFor(beat)) {
            mistakes.add(ClusterCheck.shortLease(KEY + ".beat", beat, settings));
        }
        return settings;
    }

    private void checkLeast(String key, Duration value, Duration least, String usual) {
        if (value.compareTo(least) < 0) {
            mistakes.add(new Mistake(
                    "%s.%s must be at least %s, was %s"
                            .formatted(KEY, key, Durations.text(least), Durations.text(value)),
                    "Set %s.%s to a duration such as %s, or remove it.".formatted(KEY, key, usual)));
        }
    }

    private void checkReplicas() {
        Integer replicas = properties.replicas();
        if (replicas != null && replicas < 1) {
            mistakes.add(new Mistake(
                    "%s.replicas must be at least 1, was %d".formatted(KEY, replicas),
                    "Set %s.replicas to the number of replicas, or remove it.".formatted(KEY)));
        }
    }

    private void checkTable() {
        String table = table(properties);
        // most applications have the default, and need no pattern of names
        if (!table.equals(TableName.DEFAULT) && !TableName.isAllowed(table)) {
            mistakes.add(new Mistake(
                    "%s.jdbc.table %s, was '%s'".formatted(KEY, TableName.RULE, table),
                    "Set %s.jdbc.table to a name such as %s, or remove it.".formatted(KEY, TableName.EXAMPLE)));
        }
    }

    /**
     * Returns the name of the table of the engine jdbc.
     *
     * @param properties of the cluster
     * @return the default if none is set
     */
    public static String table(Cluster properties) {
        String table = BlankCountsAsNotSet.text(properties.jdbc().table());
        return table == null ? TableName.DEFAULT : table;
    }
}
