package io.github.virtualthread.execution;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One call of an annotated method or by hand, as {@link TaskListener} sees it. All events of a call have the same object.
 * Implemented by the starter only.
 */
public interface TaskCall {

    /**
     * Number of the call, assigned when it is read for the first time.
     *
     * @return at least 1, always the same, and unique within the application
     */
    long id();

    /**
     * What the call shares with all others of its name: the name, the limit and the timeout.
     *
     * @return spec of the call
     */
    TaskSpec spec();

    /**
     * Key of the call: under its limit, keys take turns. It may be personal data, and there may be any number of keys, so it does
     * not belong in the tag of a meter. A client may have chosen it: replace its control characters before you log it.
     *
     * @return the key, null if the call has none
     */
    @Nullable
    String key();

    /**
     * Whether the body has been started.
     *
     * @return false for a call that waits, and for a call that ends without having run
     */
    boolean isStarted();

    /**
     * How long the call has waited for its permit and its thread: until its body started, or until now.
     *
     * @return time since the submission, zero or more. Of a call that no {@link TaskListener} hears: time since it joined the queue,
     *     zero if it did not join one
     */
    Duration waited();

    /**
     * How long the body has run until now. Meaningful while it runs, and in {@link TaskListener#finished}.
     *
     * @return time since the start of the body; zero if it has not been started
     */
    Duration ran();
}
