package io.github.virtualthread.cluster;

/**
 * The permits of a limit in this replica, at one moment.
 *
 * @param lent number of permits that calls may use
 * @param held the same, or the number of those that calls use if that is greater
 * @param most maximum number of calls in this JVM
 * @param all number of permits of all replicas together, as this one is configured
 */
record PermitCounts(int lent, int held, int most, int all) {}
