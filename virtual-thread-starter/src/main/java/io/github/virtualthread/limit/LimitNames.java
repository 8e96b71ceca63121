package io.github.virtualthread.limit;

import io.github.virtualthread.Internal;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Names of limits: which names are allowed, and which are equal. */
@Internal
public final class LimitNames {

    /** Reserved name that asks for no limit at all. */
    public static final String NONE = "none";

    /** What a message says about a name that is not {@linkplain #isAllowed allowed}. */
    public static final String RULE = "a name may contain only letters, digits, '-', '_' and '.'";

    private LimitNames() {}

    /**
     * Returns the form in which names are compared: lower case, without {@code -} and {@code _}, as Spring Boot compares property
     * names. {@code price-db}, {@code priceDb} and {@code PRICEDB} are one limit.
     *
     * @param name any spelling of a name
     * @return its uniform form
     */
    public static String uniform(String name) {
        return name.replace("-", "").replace("_", "").toLowerCase(Locale.ROOT);
    }

    /**
     * Whether two spellings are the name of one limit.
     *
     * @param one any spelling of a name, null for no limit
     * @param other any spelling of a name, null for no limit
     * @return true also if both are null
     */
    public static boolean areEqual(@Nullable String one, @Nullable String other) {
        return one == null ? other == null : other != null && uniform(one).equals(uniform(other));
    }

    /**
     * Whether a name asks for no limit at all.
     *
     * @param name any spelling of a name
     * @return whether it is {@link #NONE}
     */
    public static boolean isNone(String name) {
        return uniform(name).equals(NONE);
    }

    /**
     * Whether a name consists of letters, digits, {@code -}, {@code _} and {@code .} only, with a letter or digit among them.
     *
     * @param name any text
     * @return whether a limit may have this name
     */
    public static boolean isAllowed(String name) {
        return name.matches("[._-]*[\\p{L}\\p{N}][\\p{L}\\p{N}._-]*");
    }

    /**
     * Says why there is no limit of a name.
     *
     * @param name the name
     * @param known names of all limits
     * @return the rule for names if it breaks that, otherwise the names that there are
     */
    public static String whyUnknown(String name, List<String> known) {
        if (!isAllowed(name)) {
            return RULE;
        }
        return known.isEmpty() ? "no limits are configured" : "the configured limits are " + known;
    }
}
