package io.github.virtualthread.actuate;

/** Numbers that come as text. */
final class Numbers {

    private Numbers() {}

    /**
     * A whole number in a range.
     *
     * @throws IllegalArgumentException if the text is something else; the message names the parameter and the range
     */
    static int whole(String name, String text, int least, int most) {
        return (int) whole(name, text, least, (long) most);
    }

    static long whole(String name, String text, long least, long most) {
        try {
            long number = Long.parseLong(text.strip());
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException none) {
            // the same message as for a number out of range
        }
        throw new IllegalArgumentException(
                "%s must be a whole number from %d to %d, was '%s'".formatted(name, least, most, text));
    }
}
