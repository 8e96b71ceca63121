/**
 * Experiments that measure what virtual threads and limits do, one at a time. Start at {@link Experiment}; {@link Lab} runs them,
 * for the browser ({@code web}) and for the terminal ({@code terminal}).
 */
package io.github.virtualthread.sample.lab;
