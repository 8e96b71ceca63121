package io.github.virtualthread.sample.lab;

/** A question that is answered by measuring. One runs at a time. */
public interface Experiment {

    /** What it asks, and what can be chosen. */
    About about();

    /**
     * Measures. Blocks until it is done.
     *
     * @param run its settings, and who watches
     * @return what was found
     * @throws InterruptedException if it is cancelled: it has to leave nothing behind then either
     */
    Answer run(Run run) throws Exception;
}
