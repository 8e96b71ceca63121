package io.github.virtualthread.config;

import io.github.virtualthread.Internal;

/**
 * What happens at start-up if an object calls an annotated method of its own, or if Spring calls an annotated callback such as
 * a {@code @PostConstruct} method; such a call bypasses the proxy.
 */
@Internal
public enum SelfInvocation {

    /** Each such call is logged at WARN. */
    WARN,

    /** Each such call is a mistake, and the start fails. */
    FAIL,

    /** Such calls are not reported. */
    IGNORE
}
