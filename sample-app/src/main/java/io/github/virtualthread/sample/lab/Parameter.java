package io.github.virtualthread.sample.lab;

/**
 * What can be chosen for a run: a whole number within bounds.
 *
 * @param name as in {@code tasks}, for URLs and the command line
 * @param label for people
 * @param unit such as {@code ms}; empty for a count
 * @param min smallest value
 * @param max largest value, for whoever asks over the web
 * @param mostInTerminal largest value for whoever runs it in a terminal, and waits as long as it takes
 * @param byDefault value where nothing is chosen
 * @param small value for a quick run of all experiments
 */
public record Parameter(
        String name, String label, String unit, int min, int max, int mostInTerminal, int byDefault, int small) {

    /** How often each contender is measured; every experiment that compares has it. */
    public static final Parameter ROUNDS = new Parameter("rounds", "Rounds", "", 1, 10, 3, 1);

    /** Checks that the values themselves are within the bounds. */
    public Parameter {
        if (min > max || mostInTerminal < max || byDefault < min || byDefault > max || small < min || small > max) {
            throw new IllegalArgumentException(
                    "%s: %d and %d must be within %d to %d, and that not above %d in the terminal"
                            .formatted(name, byDefault, small, min, max, mostInTerminal));
        }
    }

    /** With the same bounds in the terminal. */
    public Parameter(String name, String label, String unit, int min, int max, int byDefault, int small) {
        this(name, label, unit, min, max, max, byDefault, small);
    }

    public Parameter inTerminalUpTo(int most) {
        return new Parameter(name, label, unit, min, max, most, byDefault, small);
    }
}
