package io.github.virtualthread.jdbc;

import io.github.virtualthread.execution.StoppableBody;
import io.github.virtualthread.limit.Durations;
import io.github.virtualthread.limit.TaskLimit;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Warnings about stopped calls that cost their connection. */
final class LostConnection {

    private static final Logger logger = LoggerFactory.getLogger(CancellableDataSource.class);

    private LostConnection() {}

    static void afterStatement(StoppableBody body, String why, String what, Duration longest) {
        logger.warn(
                "{}. {}. Its connection is lost, and the database may go on with the statement{}: look for the statement in the"
                        + " database, and end it there",
                why,
                what.formatted(Durations.text(longest)),
                permit(body));
    }

    static void afterCommit(StoppableBody body, String why, String what) {
        logger.warn(
                "{}. Its commit {}. Its connection is lost, and whether it is committed is unknown{}: look for its rows in the"
                        + " database",
                why,
                what,
                permit(body));
    }

    private static String permit(StoppableBody body) {
        TaskLimit limit = body.spec().limit();
        return limit == null ? "" : " although the permit of limit '" + limit.name() + "' is free for other calls";
    }

    static void notClosed(StoppableBody body, Throwable failure) {
        logger.warn(
                "The connection of {} could not be closed after a cancel of its statement did not return. Nobody uses it any"
                        + " more: look for its session in the database, and end it there",
                body.spec().name(),
                failure);
    }
}
