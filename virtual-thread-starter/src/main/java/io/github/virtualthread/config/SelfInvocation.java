package io.github.virtualthread.config;

/** What happens at start-up where an object calls an annotated method of its own, which its proxy cannot see. */
public enum SelfInvocation {

    /** Each such call is logged at WARN. */
    WARN,

    /** Each such call is a mistake, and the start fails. */
    FAIL,

    /** Nothing is said of such calls. */
    IGNORE
}
