package io.github.virtualthread.actuate;

import io.github.virtualthread.Internal;
import java.util.Collection;
import java.util.List;

/**
 * What the endpoint shows of live calls, beside what it always shows.
 *
 * @param mdcKeys keys of the caller's MDC whose values are shown
 * @param keys whether to show the keys of calls
 * @param sql whether to show the beginning of the SQL that calls wait for
 */
@Internal
public record CallDetails(Collection<String> mdcKeys, boolean keys, boolean sql) {

    /** Copies the keys. */
    public CallDetails {
        mdcKeys = List.copyOf(mdcKeys);
    }
}
