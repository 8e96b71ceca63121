package io.github.virtualthread.actuate;

import org.jspecify.annotations.Nullable;

/**
 * The calls of one name and limit. Counts are those since the start of the application.
 *
 * @param name name of the tasks: {@code Class.method}, or what the annotation says
 * @param limit name of the limit, {@code "none"} where there is none
 * @param timeoutSeconds longest run, null for any time and for calls by hand; where several methods share name and limit,
 *     that of the first
 * @param active bodies that run at this moment
 * @param done calls that ended with success
 * @param failed calls that failed, timed out or were cancelled
 * @param rejected calls that were rejected, and never ran
 */
public record MethodState(
        String name,
        String limit,
        @Nullable Double timeoutSeconds,
        long active,
        long done,
        long failed,
        long rejected) {}
