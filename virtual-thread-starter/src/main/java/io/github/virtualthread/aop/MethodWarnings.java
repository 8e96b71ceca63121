package io.github.virtualthread.aop;

import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * Warns about methods whose work continues after they have returned, where their trigger or the limit of {@code @Limited}
 * takes the return for the end, and about keys without effect.
 */
final class MethodWarnings {

    private static final Logger logger = LoggerFactory.getLogger(MethodWarnings.class);

    private static final List<String> LISTENERS = List.of(
            "org.springframework.kafka.annotation.KafkaListener",
            "org.springframework.kafka.annotation.KafkaHandler",
            "org.springframework.jms.annotation.JmsListener",
            "org.springframework.amqp.rabbit.annotation.RabbitListener",
            "org.springframework.amqp.rabbit.annotation.RabbitHandler");

    /** ShedLock's: held on the virtual thread until the body has ended; a run that finds it taken is skipped. */
    private static final String LOCK = "net.javacrumbs.shedlock.spring.annotation.SchedulerLock";

    private static final Set<String> FUTURES = Set.of(
            "java.util.concurrent.Future",
            "java.util.concurrent.CompletionStage",
            "java.util.concurrent.Flow$Publisher",
            "org.reactivestreams.Publisher",
            "kotlinx.coroutines.flow.Flow",
            "kotlinx.coroutines.Deferred");

    private MethodWarnings() {}

    static void log(AnnotatedMethod method) {
        if (method.isLimited()) {
            warnOfEarlyRelease(method);
        } else if (method.returnsNothing()) {
            warnOfEarlyEnd(method);
        } else {
            warnOfLostFailure(method);
        }
    }

    static void keyWithoutLimit(AnnotatedMethod method) {
        warn(
                method,
                "with a key, but no limit: the key has no effect. Name a limit, under which keys take turns, or remove the"
                        + " attribute key");
    }

    private static void warnOfEarlyRelease(AnnotatedMethod method) {
        Class<?> returned = method.method().getReturnType();
        if (isFuture(returned)) {
            warn(
                    method,
                    "and returns " + returned.getSimpleName()
                            + ": the permit covers the method, not the work that continues"
                            + " after it has returned. Use @VirtualThread, or return the value itself");
        }
    }

    private static void warnOfEarlyEnd(AnnotatedMethod method) {
        if (isScheduledWithDelay(method) && !method.has(LOCK)) {
            warn(
                    method,
                    "and @Scheduled(fixedDelay): it returns at once, so the delay counts from the start of the run, and runs"
                            + " may overlap. Remove " + method.annotation()
                            + ": the method then returns when its work is done");
        }
        LISTENERS.stream()
                .filter(method::has)
                .findFirst()
                .ifPresent(listener -> warn(
                        method,
                        "and @" + listener.substring(listener.lastIndexOf('.') + 1)
                                + ": the message is acknowledged before"
                                + " the work is done, and is not redelivered after a failure. Remove "
                                + method.annotation()
                                + ", and let the listener container use virtual threads instead"));
    }

    private static void warnOfLostFailure(AnnotatedMethod method) {
        if (method.has(Scheduled.class.getName())) {
            warn(
                    method,
                    "and @Scheduled and returns a future that nobody reads, so a failure is lost. Return void: a failure then"
                            + " goes to the AsyncUncaughtExceptionHandler, or to the log if there is none");
        }
    }

    private static void warn(AnnotatedMethod method, String what) {
        logger.warn("{} has {} {}", method.qualifiedName(), method.annotation(), what);
    }

    private static boolean isFuture(Class<?> type) {
        return TypeHierarchy.of(type).stream().map(Class::getName).anyMatch(FUTURES::contains)
                || ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
    }

    private static boolean isScheduledWithDelay(AnnotatedMethod method) {
        return method.declarations().stream()
                .flatMap(each -> MergedAnnotations.from(each).stream(Scheduled.class))
                .anyMatch(each -> each.getLong("fixedDelay") >= 0
                        || !each.getString("fixedDelayString").isEmpty());
    }
}
