package io.github.virtualthread.limit;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/** Names of limits: which are allowed, which are the same, and which was meant. */
public final class LimitNames {

    /** Reserved name that asks for no limit at all. */
    public static final String NONE = "none";

    private static final Pattern ALLOWED = Pattern.compile("[._-]*[\\p{L}\\p{N}][\\p{L}\\p{N}._-]*");

    private LimitNames() {}

    /**
     * The form in which names are compared: lower case, without {@code -} and {@code _}, as Spring Boot compares property
     * names. {@code price-db}, {@code priceDb} and {@code PRICEDB} are one limit.
     *
     * @param name name as somebody spelt it
     * @return its uniform form
     */
    public static String uniform(String name) {
        return name.replace("-", "").replace("_", "").toLowerCase(Locale.ROOT);
    }

    /**
     * Whether a name consists of letters, digits, {@code -}, {@code _} and {@code .} only, with a letter or digit among them.
     *
     * @param name name to look at
     * @return whether a limit may have it
     */
    public static boolean isAllowed(String name) {
        return ALLOWED.matcher(name).matches();
    }

    /**
     * The known name that somebody who wrote {@code name} most likely meant.
     *
     * @param name name that is not known
     * @param known names that are
     * @return the nearest of them, empty where none is near
     */
    public static Optional<String> nearest(String name, Collection<String> known) {
        String wanted = uniform(name);
        return known.stream()
                .filter(candidate -> distance(wanted, uniform(candidate)) <= Math.max(1, wanted.length() / 3))
                .min(Comparator.comparingInt(candidate -> distance(wanted, uniform(candidate))));
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
