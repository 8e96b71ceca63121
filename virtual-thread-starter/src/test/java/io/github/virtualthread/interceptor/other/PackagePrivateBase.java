package io.github.virtualthread.interceptor.other;

import io.github.virtualthread.VirtualThread;

public class PackagePrivateBase {

    @VirtualThread
    void hidden() {}
}
