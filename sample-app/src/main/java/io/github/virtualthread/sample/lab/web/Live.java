package io.github.virtualthread.sample.lab.web;

import java.util.List;

/**
 * What the panel beside the experiments shows, now.
 *
 * @param platformThreads those that live, carriers of virtual threads included
 * @param carriers of these, those that carry virtual threads
 * @param heapMegabytes in use
 * @param collections of the heap, since the start
 */
record Live(List<LiveLimit> limits, int platformThreads, int carriers, long heapMegabytes, long collections) {

    /**
     * One limit.
     *
     * @param oldestWaitingMillis how long the call waits that has waited longest; 0 where none does
     */
    record LiveLimit(String name, int permits, int inUse, int waiting, long oldestWaitingMillis) {}
}
