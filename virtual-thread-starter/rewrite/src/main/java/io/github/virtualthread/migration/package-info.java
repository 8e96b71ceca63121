/**
 * What {@code META-INF/rewrite/migrate-from-async.yml} runs in OpenRewrite, which moves methods from Async to VirtualThread. Start
 * at {@link AsyncToVirtualThread}.
 *
 * <p>Compiled for Java 17, as it runs in the JVM of Maven. Needs nothing but OpenRewrite, which brings itself.
 */
@NullMarked
package io.github.virtualthread.migration;

import org.jspecify.annotations.NullMarked;
