package io.github.virtualthread.config;

import io.github.virtualthread.Internal;

/**
 * Names of beans of the starter that are looked up by them: for a type, Spring would ask every bean of the application for its own.
 */
@Internal
public final class BeanNames {

    /** The engine, where there is one. */
    public static final String ENGINE = "virtualThreadEngine";

    /** Calls by hand. */
    public static final String BY_HAND = "virtualThreadsByHand";

    /** The settings of a Spring Boot application. Another bean of this name replaces them. */
    public static final String SETTINGS = "virtualThreadSettings";

    /** What lends permits to all replicas, if no bean of the application does. */
    public static final String CLUSTER_ENGINE = "virtualThreadClusterEngine";

    /** A {@link StartupPart}, of the limit and the deadline of web requests. */
    public static final String DOOR_SETTINGS = "virtualThreadDoorSettings";

    /** A {@link StartupPart}, of the executors that are executors of limits. */
    public static final String ASYNC_CHECK = "virtualThreadAsyncCheck";

    /** A {@link StartupPart}, of what other services are told of the deadline. */
    public static final String CLIENT_SETTINGS = "virtualThreadClientSettings";

    static final String POST_PROCESSOR = "io.github.virtualthread.config.internalVirtualThreadPostProcessor";
    static final String STARTUP_CHECK = "io.github.virtualthread.config.internalStartupCheck";
    static final String ENGINE_BEANS = "io.github.virtualthread.config.internalEngineBeans";
    static final String LIFECYCLE = "virtualThreadEngineLifecycle";
    static final String LIMITS = "virtualThreadLimits";

    private BeanNames() {}
}
