package io.github.virtualthread.autoconfigure;

/** Names of the properties of executors, and of the executor of Spring Boot. */
final class AsyncNames {

    static final String LIMIT = "virtual-thread.async.limit";

    /** The name of an executor follows. */
    static final String EXECUTORS = "virtual-thread.async.executors.";

    /** The executor of Spring Boot, which also has the methods that name none. */
    static final String APPLICATION = "applicationTaskExecutor";

    private AsyncNames() {}
}
