package io.github.virtualthread.config;

import io.github.virtualthread.Internal;
import io.github.virtualthread.cluster.ClusterEngine;
import io.github.virtualthread.cluster.ClusterSettings;
import io.github.virtualthread.cluster.ClusterStore;
import io.github.virtualthread.cluster.StoredLimits;
import io.github.virtualthread.limit.Durations;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;

/** Finds out whether limits can be shared by all replicas: whether what lends the permits exists and can be created. */
@Internal
public final class ClusterCheck {

    private static final String THREE_WAYS =
            "Set virtual-thread.cluster.replicas to the most replicas that run at once: then each uses an equal part of the permits."
                    + " Or set on-failure of virtual-thread.cluster, or of the limit, to wait: then calls wait until permits are"
                    + " lent again. Or set it to reject: then calls are rejected until that.";

    private static final String TWO_WAYS =
            "Call LimitSettings.withOnFailure(OnFailure.WAIT): then calls wait until permits are lent again. Or pass it"
                    + " OnFailure.REJECT: then calls are rejected until that. A local share needs"
                    + " virtual-thread.cluster.replicas, which only Spring Boot reads.";

    private ClusterCheck() {}

    /**
     * Creates the engine if one of the limits is shared.
     *
     * @param beans have the engine, or a store
     * @param settings how limits are shared, null if they are not
     * @param limits any limits
     * @return what is wrong, empty if nothing is
     */
    public static List<Mistake> mistakes(
            ListableBeanFactory beans, @Nullable ClusterSettings settings, Collection<LimitSettings> limits) {
        List<LimitSettings> shared =
                limits.stream().filter(LimitSettings::isShared).toList();
        if (shared.isEmpty() || settings == null) {
            return List.of();
        }
        List<LimitSettings> undecided = shared.stream()
                .filter(limit -> settings.replicas() == null && settings.onFailure(limit) == OnFailure.LOCAL_SHARE)
                .toList();
        List<Mistake> mistakes = new ArrayList<>(ofEngine(beans, settings, shared));
        if (!undecided.isEmpty()) {
            boolean isBoot = beans.containsBean(BeanNames.SETTINGS); // otherwise nothing reads properties
            mistakes.add(of(
                    undecided,
                    "nothing says what calls do while no engine lends permits",
                    isBoot ? THREE_WAYS : TWO_WAYS));
        }
        return mistakes;
    }

    private static List<Mistake> ofEngine(
            ListableBeanFactory beans, ClusterSettings settings, List<LimitSettings> shared) {
        try {
            ClusterEngine engine = engine(beans);
            if (settings.beat() == null && !settings.isLongEnoughFor(engine.beat())) {
                Object whose = engine instanceof StoredLimits stored ? stored.store() : engine;
                return List.of(shortLease("the beat of " + whose.getClass().getSimpleName(), engine.beat(), settings));
            }
            return List.of();
        } catch (NoUniqueBeanDefinitionException several) {
            return List.of(of(
                    shared,
                    "there are several beans of type %s, and none is primary: %s"
                            .formatted(
                                    Objects.requireNonNull(several.getBeanType())
                                            .getSimpleName(),
                                    several.getBeanNamesFound()),
                    "Remove all but one of them, or mark one @Primary."));
        } catch (NoSuchBeanDefinitionException none) {
            return List.of(of(
                    shared,
                    "there is no bean that lends the permits to the replicas",
                    "Declare one: a RedisClusterEngine, a JdbcClusterStore, or a ClusterStore of your own. Otherwise remove cluster-permits,"
                            + " and set permits to the part of each replica."));
        } catch (BeansException failure) {
            if (failure.getRootCause() instanceof VirtualThreadConfigurationException wrong) {
                return wrong.mistakes().stream()
                        .map(mistake -> of(shared, mistake.description(), mistake.action()))
                        .toList();
            }
            throw failure;
        }
    }

    /**
     * Looks the engine up at the first exchange. Spring lets a thread wait for the one that starts the context if both are named
     * alike, as if neither has a name. The other one may wait for a call that needs the engine.
     */
    static Supplier<ClusterEngine> lookup(ListableBeanFactory beans) {
        return () -> {
            Thread thread = Thread.currentThread();
            String before = thread.getName();
            thread.setName("virtual-thread-cluster");
            try {
                return engine(beans);
            } finally {
                thread.setName(before);
            }
        };
    }

    /** A store of the application comes first, and lends by our rules. */
    static ClusterEngine engine(ListableBeanFactory beans) {
        if (hasStore(beans)) {
            return new StoredLimits(beans.getBean(ClusterStore.class));
        }
        return beans.getBean(ClusterEngine.class);
    }

    static boolean hasStore(ListableBeanFactory beans) {
        return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, ClusterStore.class, true, false).length > 0;
    }

    private static Mistake of(List<LimitSettings> shared, String but, String action) {
        return new Mistake("%s, but %s".formatted(named(shared), but), action);
    }

    private static String named(List<LimitSettings> shared) {
        if (shared.size() == 1) {
            LimitSettings limit = shared.get(0);
            return "Limit '%s' has cluster-permits: %d".formatted(limit.name(), limit.clusterPermits());
        }
        String names = shared.stream().map(LimitSettings::name).collect(Collectors.joining("' and '"));
        return "Limits '%s' have cluster-permits".formatted(names);
    }

    /**
     * Describes a lease that is too short.
     *
     * @param whose what has the beat
     * @param beat time between two exchanges
     * @param settings have the lease
     * @return what is wrong
     */
    public static Mistake shortLease(String whose, Duration beat, ClusterSettings settings) {
        return new Mistake(
                "virtual-thread.cluster.lease must be at least 10 times %s, which is %s, was %s"
                        .formatted(whose, Durations.text(beat), Durations.text(settings.lease())),
                "Set virtual-thread.cluster.lease to %s or more, or set virtual-thread.cluster.beat to a tenth of it."
                        .formatted(Durations.text(beat.multipliedBy(10))));
    }
}
