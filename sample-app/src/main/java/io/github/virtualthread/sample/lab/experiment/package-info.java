/** The experiments themselves, in the order of the story. */
package io.github.virtualthread.sample.lab.experiment;
