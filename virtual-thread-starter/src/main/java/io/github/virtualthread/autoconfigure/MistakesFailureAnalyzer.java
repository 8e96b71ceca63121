package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.aop.Contradiction;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotationConfigurationException;
import org.springframework.core.annotation.Order;

/**
 * Shows all mistakes of an application in one report, numbered if there is more than one. Before the analyzers of others, of which one
 * may be for any failure of a bean.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class MistakesFailureAnalyzer implements FailureAnalyzer {

    @Override
    public @Nullable FailureAnalysis analyze(Throwable failure) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            List<Mistake> mistakes = mistakes(each, failure);
            if (!mistakes.isEmpty()) {
                return new FailureAnalysis(list(mistakes, Mistake::description), list(mistakes, Mistake::action), each);
            }
        }
        return null;
    }

    private static List<Mistake> mistakes(Throwable cause, Throwable failure) {
        if (cause instanceof VirtualThreadConfigurationException ours) {
            return ours.mistakes();
        }
        if (cause instanceof AnnotationConfigurationException read) {
            return Stream.ofNullable(Contradiction.inScannedClass(read, failure))
                    .toList();
        }
        return List.of();
    }

    private static String list(List<Mistake> mistakes, Function<Mistake, String> part) {
        if (mistakes.size() == 1) {
            return part.apply(mistakes.get(0));
        }
        StringBuilder list = new StringBuilder();
        for (int i = 0; i < mistakes.size(); i++) {
            list.append("%n%d. %s".formatted(i + 1, part.apply(mistakes.get(i))));
        }
        return list.toString();
    }
}
