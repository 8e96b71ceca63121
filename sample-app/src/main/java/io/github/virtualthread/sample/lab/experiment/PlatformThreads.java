package io.github.virtualthread.sample.lab.experiment;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Threads of the platform in this JVM, by their names. */
final class PlatformThreads {

    /** Names of the threads that carry virtual ones. */
    static final String CARRIERS = "ForkJoinPool-1-worker-.*";

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private PlatformThreads() {}

    /** How many have a name like that. */
    static long count(String name) {
        return Stream.of(THREADS.getThreadInfo(THREADS.getAllThreadIds()))
                .filter(Objects::nonNull)
                .map(ThreadInfo::getThreadName)
                .filter(Pattern.compile(name).asMatchPredicate())
                .count();
    }
}
