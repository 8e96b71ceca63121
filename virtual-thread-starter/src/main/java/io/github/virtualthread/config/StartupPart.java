package io.github.virtualthread.config;

import io.github.virtualthread.Internal;
import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.PropertyKeys;
import io.github.virtualthread.mistake.Spelling;
import java.util.List;

/** What not every application has, as the start checks and reports it. It is asked once, at the start. */
@Internal
@FunctionalInterface
public interface StartupPart {

    /** Names of such beans: for their type, Spring would ask every bean of the application. */
    List<String> BEANS = List.of(BeanNames.DOOR_SETTINGS, BeanNames.ASYNC_CHECK, BeanNames.CLIENT_SETTINGS);

    /**
     * Checks one part of the application.
     *
     * @param limits limits of the application
     * @return what is wrong, empty if nothing is
     */
    List<Mistake> mistakes(TaskLimits limits);

    /**
     * Whether calls may have a deadline that no method sets.
     *
     * @return false by default
     */
    default boolean givesDeadlines() {
        return false;
    }

    /**
     * What the line of the start says about this part. Asked if there is no mistake.
     *
     * @return nothing by default
     */
    default List<String> notes() {
        return List.of();
    }

    /**
     * What the start says beside its line, one line each. Asked if there is no mistake.
     *
     * @return nothing by default
     */
    default List<String> remarks() {
        return List.of();
    }

    /**
     * What the start warns of. Asked if there is no mistake.
     *
     * @return nothing by default
     */
    default List<String> warnings() {
        return List.of();
    }

    /**
     * Describes a property that names a limit which does not exist.
     *
     * @param key the property
     * @param name its value
     * @param limits limits of the application
     * @return what is wrong
     */
    static Mistake unknownLimit(String key, String name, TaskLimits limits) {
        String remedy = "Correct the name.";
        if (LimitNames.isAllowed(name)) {
            remedy = "Set %s.permits, or correct the name.".formatted(PropertyKeys.limit(name));
        }
        return new Mistake(
                "%s asks for limit '%s', but %s".formatted(key, name, LimitNames.whyUnknown(name, limits.names())),
                Spelling.meant(name, limits.names(), remedy));
    }
}
