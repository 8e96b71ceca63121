package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Shows all mistakes of an application in one report, numbered if there is more than one. */
final class MistakesFailureAnalyzer extends AbstractFailureAnalyzer<VirtualThreadConfigurationException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, VirtualThreadConfigurationException cause) {
        List<Mistake> mistakes = cause.mistakes();
        return new FailureAnalysis(list(mistakes, Mistake::description), list(mistakes, Mistake::action), cause);
    }

    private static String list(List<Mistake> mistakes, Function<Mistake, String> part) {
        if (mistakes.size() == 1) {
            return part.apply(mistakes.get(0));
        }
        return IntStream.range(0, mistakes.size())
                .mapToObj(i -> "%n%d. %s".formatted(i + 1, part.apply(mistakes.get(i))))
                .collect(Collectors.joining());
    }
}
