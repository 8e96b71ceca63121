package io.github.virtualthread.cluster.jdbc;

import io.github.virtualthread.Internal;
import java.util.regex.Pattern;

/** Names that a table of the engine may have: those that no database needs quotes for. */
@Internal
public final class TableName {

    /** What the table is called if nothing else is set, and in the files. */
    public static final String DEFAULT = "virtual_thread_limit";

    /** What a name is made of. */
    public static final String RULE =
            "must be the name of a table, with letters, digits, _ and $, at most 200 characters and two dots";

    /** A name with a schema. */
    public static final String EXAMPLE = "app.virtual_thread_limit";

    private static final int MOST_CHARACTERS = 200;
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_$]+(\\.[A-Za-z0-9_$]+){0,2}");

    private TableName() {}

    /**
     * Whether a table may be called so.
     *
     * @param name any text
     * @return whether it follows the {@link #RULE}
     */
    public static boolean isAllowed(String name) {
        return name.length() <= MOST_CHARACTERS && NAME.matcher(name).matches();
    }
}
