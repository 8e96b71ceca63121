package com.acme.mail

import io.github.virtualthread.Limited
import io.github.virtualthread.VirtualThread
import io.github.virtualthread.limit.TaskLimits
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletableFuture.completedFuture
import org.springframework.stereotype.Service

/** What a body was given, and where it ran. */
data class Sent(val to: String, val subject: String, val thread: Thread)

/** A function that each task fills in for itself. */
interface Job<T> {

    fun run(done: CompletableFuture<Thread>): T
}

@Service
class Mailer(private val limits: TaskLimits) : Job<Unit> {

    @VirtualThread("mail")
    fun send(to: String, subject: String = "Hello"): CompletableFuture<Sent> =
        completedFuture(Sent(to, subject, Thread.currentThread()))

    @VirtualThread("mail")
    fun note(done: CompletableFuture<Thread>) {
        done.complete(Thread.currentThread())
    }

    @VirtualThread("mail")
    fun unitOrNull(done: CompletableFuture<Thread>): Unit? {
        done.complete(Thread.currentThread())
        return null
    }

    @VirtualThread("mail")
    override fun run(done: CompletableFuture<Thread>) {
        done.complete(Thread.currentThread())
    }

    @VirtualThread
    fun fail(): CompletableFuture<Sent> = throw IllegalStateException("no post today")

    /** Calls to the same person that run. */
    @VirtualThread("mail", key = "#to")
    fun running(to: String, subject: String = "Hello"): CompletableFuture<Int> =
        completedFuture(limits.get("mail").key(to).running())

    @Limited("mail", key = "#sent.to")
    fun resending(sent: Sent): Int = limits.get("mail").key(sent.to).running()

    /** Permits that are free while this function holds one. */
    @Limited("mail")
    fun free(): Int = limits.get("mail").available()
}
