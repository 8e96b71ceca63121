package org.example;

import io.github.virtualthread.VirtualThread;

/** Not in a package that META-INF/aop.xml includes. */
public class NotWoven {

    @VirtualThread
    public void run() {}
}
