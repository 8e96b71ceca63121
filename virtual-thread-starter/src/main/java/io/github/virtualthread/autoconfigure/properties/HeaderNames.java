package io.github.virtualthread.autoconfigure.properties;

import io.github.virtualthread.Internal;
import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.mistake.Mistake;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Names of headers that are set by properties. */
@Internal
public final class HeaderNames {

    /** What a name may have beside letters and digits: RFC 9110, section 5.6.2. */
    private static final String SIGNS = "!#$%&'*+-.^_`|~";

    private HeaderNames() {}

    /**
     * Reads the name of a header.
     *
     * @param key the property
     * @param value its value, null, blank or {@code none} for no header
     * @param mistakes gets what is wrong with it
     * @return the name, null for no header, and if it is wrong
     */
    public static @Nullable String checked(String key, @Nullable String value, List<Mistake> mistakes) {
        String name = value == null ? "" : value.strip();
        if (name.isEmpty() || LimitNames.isNone(name)) {
            return null;
        }
        if (name.chars().allMatch(HeaderNames::isAllowed)) {
            return name;
        }
        mistakes.add(new Mistake(
                "%s must be the name of a header, was '%s'".formatted(key, name),
                "Set %s to a name of letters, digits and dashes, such as X-Request-Timeout-Ms.".formatted(key)));
        return null;
    }

    private static boolean isAllowed(int character) {
        boolean isLetter = (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
        return isLetter || (character >= '0' && character <= '9') || SIGNS.indexOf(character) >= 0;
    }
}
