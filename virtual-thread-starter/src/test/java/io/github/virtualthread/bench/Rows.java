package io.github.virtualthread.bench;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The values of its parameters that a benchmark is measured with: all combinations of each row, as in
 * {@code permits=8 contender=async,ours}. Those joined by {@code +} share a JVM. JMH alone would measure every possible combination, and many say little.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@interface Rows {

    /** A row is measured in its order, and in the opposite order in every second round. */
    String[] value();
}
