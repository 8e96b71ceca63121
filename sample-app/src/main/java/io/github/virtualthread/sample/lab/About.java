package io.github.virtualthread.sample.lab;

import java.util.List;

/**
 * What is told of an experiment before it runs.
 *
 * @param id in URLs and on the command line
 * @param question in one sentence
 * @param guesses answers to choose from, before the run
 * @param notShown what a reader must not conclude from it
 * @param code what runs, as it is in the source
 * @param yml settings that belong to it; empty for none
 * @param resizes limit that whoever watches may resize while it runs; empty for none
 * @param seconds how long it takes about, with the defaults
 * @param smallSeconds the same in small settings
 * @param watched what the lines show that are drawn while it runs, as in {@code tasks done}; empty for none
 */
public record About(
        String id,
        Act act,
        String title,
        String question,
        List<String> guesses,
        List<Parameter> parameters,
        String notShown,
        String code,
        String yml,
        String resizes,
        int seconds,
        int smallSeconds,
        String watched) {}
