package io.github.virtualthread.execution;

import java.time.Duration;

/**
 * How long the engine puts up with others.
 *
 * @param interrupted how long a body may take to end after its timeout has interrupted it, before somebody is told
 * @param platformThread how long a platform thread waits for a permit where the limit bounds no wait: nobody should hold up a
 *     thread of a pool for ever
 */
record Patience(Duration interrupted, Duration platformThread) {

    static final Patience DEFAULT = new Patience(Duration.ofSeconds(1), Duration.ofSeconds(30));
}
