package io.github.virtualthread.execution;

import io.github.virtualthread.limit.Durations;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs stuck calls: for each place where calls hang, one stack and their number, at once and then once per minute if there
 * are more. Checks are one second apart.
 */
final class StuckCalls {

    private static final Logger logger = LoggerFactory.getLogger(CallWatch.class);

    private static final int LOOKS_A_MINUTE = 60;

    /** Maximum number of places per minute that are logged separately: bodies in endless loops are each at another place. */
    private static final int MOST_PLACES_A_MINUTE = 10;

    private static final Place ELSEWHERE = new Place("", "", List.of());

    private final Map<Place, Stuck> places = new LinkedHashMap<>();
    private int looks;

    /** Adds a stuck call that this check found on its thread. */
    void add(Call call, Thread thread) {
        Throwable stack = TimeBounds.stack(thread);
        Place place = Place.of(call.spec(), stack);
        if (!places.containsKey(place) && places.size() >= MOST_PLACES_A_MINUTE) {
            place = ELSEWHERE;
        }
        Stuck stuck = places.computeIfAbsent(place, first -> new Stuck());
        stuck.stack = stuck.number == 0 ? stack : stuck.stack;
        stuck.number++;
        Duration ran = call.ran();
        stuck.longest = ran.compareTo(stuck.longest) > 0 ? ran : stuck.longest;
    }

    /** Ends a check: writes what is due. */
    void log() {
        looks++;
        places.values().removeIf(stuck -> stuck.number == 0 && looks - stuck.loggedAt >= LOOKS_A_MINUTE);
        places.forEach((place, stuck) -> {
            if (stuck.number > 0 && (stuck.loggedAt == 0 || looks - stuck.loggedAt >= LOOKS_A_MINUTE)) {
                int number = stuck.number;
                stuck.number = 0;
                stuck.loggedAt = looks;
                log(place, number, stuck);
                stuck.stack = null;
                stuck.longest = Duration.ZERO;
            }
        });
    }

    private static void log(Place place, int number, Stuck stuck) {
        String ran = Durations.text(Duration.ofSeconds(stuck.longest.toSeconds()));
        if (place.equals(ELSEWHERE)) {
            logger.warn(String.format(
                    Locale.ROOT,
                    "%,d more calls have been running for up to %s, longer than virtual-thread.stuck-after, at more"
                            + " than %d places",
                    number,
                    ran,
                    MOST_PLACES_A_MINUTE));
        } else if (number == 1) {
            logger.warn(
                    "{} has been running for {} under limit '{}', longer than virtual-thread.stuck-after",
                    place.task,
                    ran,
                    place.limit,
                    stuck.stack);
        } else {
            logger.warn(
                    "{} calls of {} have been running for up to {} under limit '{}', longer than"
                            + " virtual-thread.stuck-after, all at the same place",
                    String.format(Locale.ROOT, "%,d", number),
                    place.task,
                    ran,
                    place.limit,
                    stuck.stack);
        }
    }

    /** Where calls are stuck: the frames of their bodies, without those of the engine. */
    private record Place(String task, String limit, List<StackTraceElement> frames) {

        static Place of(TaskSpec spec, Throwable stack) {
            List<StackTraceElement> frames = Arrays.stream(stack.getStackTrace())
                    .takeWhile(frame -> !isEngine(frame.getClassName()))
                    .toList();
            return new Place(spec.name(), spec.limitName(), frames);
        }

        private static boolean isEngine(String type) {
            return type.equals(Task.class.getName()) || type.equals(TaskEngine.class.getName());
        }
    }

    /** The calls at one place that have not been logged. */
    private static final class Stuck {

        private int number;
        private Duration longest = Duration.ZERO;
        private @Nullable Throwable stack; // of the first of them
        private int loggedAt; // in checks, 0 for never
    }
}
