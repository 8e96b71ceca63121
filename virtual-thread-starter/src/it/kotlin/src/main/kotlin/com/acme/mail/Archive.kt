package com.acme.mail

import io.github.virtualthread.VirtualThread
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletableFuture.completedFuture

/** Open by its annotation, as it has none of Spring's. */
@VirtualThread("mail")
class Archive {

    fun keep(): CompletableFuture<Thread> = completedFuture(Thread.currentThread())
}
