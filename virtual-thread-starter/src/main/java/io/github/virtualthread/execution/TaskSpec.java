package io.github.virtualthread.execution;

/** Draft of the contract. */
public final class TaskSpec {
    TaskSpec() {}
}
