package io.github.virtualthread.bench;

import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** What a benchmark measures itself, in place of what JMH measures. Zero is not reported. */
@AuxCounters(AuxCounters.Type.EVENTS)
@State(Scope.Thread)
public class Measured {

    /** Time of an operation, in the unit of the benchmark; if zero, JMH's counts. */
    public double time;

    /** Bytes that an operation allocates or holds. */
    public double bytes;

    /** The same time for the contender that shares the JVM. */
    public double otherTime;

    /** The same bytes for it. */
    public double otherBytes;

    /** Longest time that one call took. */
    public double longestWaitMillis;
}
