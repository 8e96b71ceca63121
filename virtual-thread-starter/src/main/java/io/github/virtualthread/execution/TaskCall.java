package io.github.virtualthread.execution;

import java.time.Duration;

/**
 * One call, as {@link TaskListener} sees it: of an annotated method, or by hand. The same object for all that happens to a
 * call. Implemented by the starter only.
 */
public interface TaskCall {

    /**
     * Number of the call, given when somebody asks for it first.
     *
     * @return at least 1, the same each time, no other call of the application has it
     */
    long id();

    /**
     * What the call has in common with others of its name: the name itself, the limit, the timeout.
     *
     * @return spec of the call
     */
    TaskSpec spec();

    /**
     * Whether the body has been started.
     *
     * @return false for a call that waits, and for one that ends without having run
     */
    boolean isStarted();

    /**
     * How long the call has waited for its permit and its thread: until its body started, or until now.
     *
     * @return from the submission on, zero or more; where there is no {@link TaskListener}, from the moment on in which it
     *     joined the queue, and zero if it joined none
     */
    Duration waited();

    /**
     * How long the body has run until now. To be asked while it runs, or by {@link TaskListener#finished}.
     *
     * @return from the start of the body on; zero if it has not been started
     */
    Duration ran();
}
