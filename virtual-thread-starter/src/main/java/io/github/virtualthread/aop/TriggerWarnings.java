package io.github.virtualthread.aop;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.scheduling.annotation.Scheduled;

/** Warns of methods whose trigger takes their return for the end of the work, or looks at nothing that they return. */
final class TriggerWarnings {

    private static final Logger logger = LoggerFactory.getLogger(TriggerWarnings.class);

    private static final List<String> LISTENERS = List.of(
            "org.springframework.kafka.annotation.KafkaListener",
            "org.springframework.kafka.annotation.KafkaHandler",
            "org.springframework.jms.annotation.JmsListener",
            "org.springframework.amqp.rabbit.annotation.RabbitListener",
            "org.springframework.amqp.rabbit.annotation.RabbitHandler");

    private TriggerWarnings() {}

    static void log(AnnotatedMethod method) {
        if (method.isLimited()) {
            return;
        }
        if (!method.returnsNothing()) {
            warnOfLostFailure(method);
            return;
        }
        String annotation = method.annotation();
        if (isScheduledWithDelay(method)) {
            logger.warn(
                    "{} has {} and @Scheduled(fixedDelay): it returns at once, so that the delay starts with the run "
                            + "and runs may overlap. Remove {}, or return when the work is done",
                    method.qualifiedName(),
                    annotation,
                    annotation);
        }
        listener(method)
                .ifPresent(listener -> logger.warn(
                        "{} has {} and @{}: the message is acknowledged before the work is done, and a failure does not "
                                + "bring it back. Remove {}, and give the listener container virtual threads instead",
                        method.qualifiedName(),
                        annotation,
                        listener.substring(listener.lastIndexOf('.') + 1),
                        annotation));
    }

    private static void warnOfLostFailure(AnnotatedMethod method) {
        if (annotations(method).anyMatch(each -> each.isPresent(Scheduled.class))) {
            logger.warn(
                    "{} has {} and @Scheduled and returns a future: nobody looks at it, so that a failure is lost. Return "
                            + "void, then the AsyncUncaughtExceptionHandler or the log has it",
                    method.qualifiedName(),
                    method.annotation());
        }
    }

    // each annotation is asked for by its type: another one, ours included, may contradict itself
    private static boolean isScheduledWithDelay(AnnotatedMethod method) {
        return annotations(method)
                .flatMap(each -> each.stream(Scheduled.class))
                .anyMatch(each -> each.getLong("fixedDelay") >= 0
                        || !each.getString("fixedDelayString").isEmpty());
    }

    private static Optional<String> listener(AnnotatedMethod method) {
        return LISTENERS.stream()
                .filter(listener -> annotations(method).anyMatch(each -> each.isPresent(listener)))
                .findFirst();
    }

    private static Stream<MergedAnnotations> annotations(AnnotatedMethod method) {
        return method.declarations().stream().map(MergedAnnotations::from);
    }
}
