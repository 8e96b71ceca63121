package io.github.virtualthread.sample.lab;

import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Answer.Figure;
import io.github.virtualthread.sample.lab.Answer.Row;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Compares contenders by all their rounds, for a guess that is right or wrong. Where the ranges of two contenders overlap, nothing is
 * decided between them, and {@link #open} says so.
 */
public final class Ranges {

    /** Medians that differ by less do not make a guess right or wrong. */
    private static final double QUARTER = 1.25;

    /** One round has no range: only a large difference counts. */
    private static final double TWICE = 2;

    private static final int ENOUGH_ROUNDS = 3;

    private final int rounds;
    private final Set<String> undecided = new LinkedHashSet<>();

    /**
     * For one answer.
     *
     * @param rounds how often each contender was measured
     */
    public Ranges(int rounds) {
        this.rounds = rounds;
    }

    /** Whether each round of the one has more than each of the other, and by a quarter at least. */
    public boolean isMore(Row one, Row other, Column column) {
        return isMore(one.name(), one.figure(column), other.name(), other.figure(column));
    }

    /** The same, of figures with the names of their contenders. */
    public boolean isMore(String one, Figure figure, String other, Figure otherFigure) {
        if (figure.median() <= QUARTER * otherFigure.median()) {
            return false;
        }
        boolean decided =
                rounds == 1 ? figure.median() > TWICE * otherFigure.median() : figure.min() > otherFigure.max();
        return decided || leaveOpen(one, figure, other, otherFigure);
    }

    /** Whether all rounds of both are within a quarter. One round does not show that. */
    public boolean isAlike(Row one, Row other, Column column) {
        return isAlike(one.name(), one.figure(column), other.name(), other.figure(column));
    }

    /** The same, of figures with the names of their contenders. */
    public boolean isAlike(String one, Figure figure, String other, Figure otherFigure) {
        double max = Math.max(figure.max(), otherFigure.max());
        double min = Math.min(figure.min(), otherFigure.min());
        boolean decided = rounds > 1 && max <= QUARTER * min;
        return decided || leaveOpen(one, figure, other, otherFigure);
    }

    private boolean leaveOpen(String one, Figure figure, String other, Figure otherFigure) {
        undecided.add("%s (%s) and %s (%s)".formatted(one, range(figure), other, range(otherFigure)));
        return false;
    }

    private static String range(Figure figure) {
        String min = Answer.number(figure.min());
        return figure.min() == figure.max() ? min : "%s to %s".formatted(min, Answer.number(figure.max()));
    }

    /** Why no guess is right, as far as these comparisons decided nothing; empty where they decided all. */
    public String open() {
        if (undecided.isEmpty()) {
            return "";
        }
        String which = String.join("; ", undecided);
        int more = ENOUGH_ROUNDS - rounds;
        return more > 0
                ? "Too few rounds for %s: %d more would be needed.".formatted(which, more)
                : "The ranges overlap: %s. This machine is too noisy for that difference.".formatted(which);
    }
}
