package org.springframework.samples.clinic;

import io.github.virtualthread.VirtualThread;

/** An application in a package of Spring's, as its well-known samples are. */
@VirtualThread
public interface Visits {

    void book();
}
