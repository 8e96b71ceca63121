package io.github.virtualthread.mistake;

import io.github.virtualthread.Internal;
import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Finds what somebody meant who misspelt a name. */
@Internal
public final class Spelling {

    private Spelling() {}

    /**
     * The known name that somebody who wrote {@code name} most likely meant.
     *
     * @param name name that is not known
     * @param known names that are
     * @return the nearest of them, empty where none is near
     */
    public static Optional<String> nearest(String name, Collection<String> known) {
        String wanted = plain(name);
        return known.stream()
                .filter(candidate -> isNear(wanted, candidate))
                .min(Comparator.comparingInt(candidate -> distance(wanted, plain(candidate))));
    }

    /**
     * Asks for the name that was most likely meant.
     *
     * @param name name that is not known
     * @param known names that are
     * @param otherwise what to say where none is near
     * @return as in {@code Did you mean 'mail'?}
     */
    public static String meant(String name, Collection<String> known, String otherwise) {
        return nearest(name, known).map("Did you mean '%s'?"::formatted).orElse(otherwise);
    }

    /**
     * As {@link #meant}, before what else there is to say.
     *
     * @param name name that is not known
     * @param known names that are
     * @return the question and a space, empty where no name is near
     */
    public static String question(String name, Collection<String> known) {
        return nearest(name, known).map("Did you mean '%s'? "::formatted).orElse("");
    }

    /**
     * Whether somebody who wrote {@code name} may have meant another one.
     *
     * @param name name that is not known
     * @param known name that is
     * @return whether they are near each other
     */
    public static boolean isNear(String name, String known) {
        String wanted = plain(name);
        return distance(wanted, plain(known)) <= Math.max(1, wanted.length() / 3);
    }

    /** Upper and lower case, {@code -} and {@code _} make no difference, as with names of limits and of properties. */
    private static String plain(String word) {
        return word.replace("-", "").replace("_", "").toLowerCase(Locale.ROOT);
    }

    /** Edits between two words, a swap of neighbours counted as one: {@code mial} is one edit from {@code mail}. */
    private static int distance(String from, String to) {
        int[][] edits = new int[from.length() + 1][to.length() + 1];
        for (int i = 0; i <= from.length(); i++) {
            for (int j = 0; j <= to.length(); j++) {
                if (i == 0 || j == 0) {
                    edits[i][j] = i + j;
                    continue;
                }
                int change = from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1;
                int least = Math.min(edits[i - 1][j], edits[i][j - 1]) + 1;
                edits[i][j] = Math.min(least, edits[i - 1][j - 1] + change);
                if (i > 1
                        && j > 1
                        && from.charAt(i - 1) == to.charAt(j - 2)
                        && from.charAt(i - 2) == to.charAt(j - 1)) {
                    edits[i][j] = Math.min(edits[i][j], edits[i - 2][j - 2] + 1);
                }
            }
        }
        return edits[from.length()][to.length()];
    }
}
