/**
 * What {@code META-INF/rewrite/migrate-from-async.yml} runs in OpenRewrite, which moves methods from Async to VirtualThread. Start
 * at {@link AsyncToVirtualThread}.
 *
 * <p>OpenRewrite only, which no application has. Compiled for Java 17, as it runs in the JVM of Maven. Knows no other package, and
 * none knows it.
 */
@NullMarked
package io.github.virtualthread.migration;

import org.jspecify.annotations.NullMarked;
