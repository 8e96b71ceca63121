package io.github.virtualthread.aop.other;

import io.github.virtualthread.VirtualThread;

public class PackagePrivateBase {

    @VirtualThread
    void hidden() {}
}
