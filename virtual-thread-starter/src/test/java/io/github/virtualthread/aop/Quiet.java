package io.github.virtualthread.aop;

import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;

/** Calls one of two methods on its own object. Not nested, so that another class loader can have a class of its own from it. */
class Quiet {

    @VirtualThread
    public void send() {}

    @Limited("db")
    public void call() {}

    void twice() {
        call();
    }
}
