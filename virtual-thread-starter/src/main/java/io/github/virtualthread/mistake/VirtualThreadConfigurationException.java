package io.github.virtualthread.mistake;

import io.github.virtualthread.Internal;
import java.util.List;
import java.util.stream.Collectors;

/** Fails the start, or the creation of a late bean, because of mistakes; the message lists all of them. */
public class VirtualThreadConfigurationException extends IllegalStateException {

    private final List<Mistake> mistakes;

    /**
     * Fails because of mistakes.
     *
     * @param mistakes at least one
     */
    @Internal
    public VirtualThreadConfigurationException(List<Mistake> mistakes) {
        super(message(mistakes));
        this.mistakes = List.copyOf(mistakes);
    }

    private static String message(List<Mistake> mistakes) {
        if (mistakes.size() == 1) {
            return mistakes.get(0).toString();
        }
        return mistakes.stream()
                .map(mistake -> System.lineSeparator() + "- " + mistake)
                .collect(Collectors.joining("", mistakes.size() + " mistakes in the use of virtual threads:", ""));
    }

    /**
     * All mistakes, in the order of the bean definitions.
     *
     * @return unmodifiable, never empty
     */
    public List<Mistake> mistakes() {
        return mistakes;
    }
}
