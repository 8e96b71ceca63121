package io.github.virtualthread.sample.lab;

/**
 * One of those that are compared.
 *
 * @param name as the chart shows it
 * @param warmUp runs it a little, before it is measured
 * @param trial runs it once, and measures
 */
public record Contender(String name, Trial warmUp, Trial trial) {

    /** Runs something once. */
    @FunctionalInterface
    public interface Trial {
        Measurement measure() throws Exception;
    }
}
