/** The lab without a browser: {@code --lab=all}. */
package io.github.virtualthread.sample.lab.terminal;
