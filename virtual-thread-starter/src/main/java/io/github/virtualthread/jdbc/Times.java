package io.github.virtualthread.jdbc;

import java.time.Duration;

/**
 * How long to wait.
 *
 * @param again after this time the cancel is sent again: a driver may send it before the database has begun with the statement
 * @param grace how long a statement may take to end after its first cancel has returned: MariaDB may need two seconds
 * @param longest how long a cancel may take to return, and how long a call may take that cannot be cancelled
 * @param commit how long a commit may take
 */
record Times(Duration again, Duration grace, Duration longest, Duration commit) {

    static final Times USUAL =
            new Times(Duration.ofMillis(100), Duration.ofSeconds(5), Duration.ofSeconds(5), Duration.ofSeconds(30));
}
