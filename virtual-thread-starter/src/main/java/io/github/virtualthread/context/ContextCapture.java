package io.github.virtualthread.context;

/** Captures one kind of context on the thread of the caller. */
@FunctionalInterface
interface ContextCapture {

    /** What is there now; {@link CapturedContext#EMPTY} where nothing is. */
    CapturedContext capture();
}
