/**
 * For the tests of applications: assertions on limits. Start at {@link LimitAssert}.
 *
 * <p>Nothing in this jar refers to this package, so its classes are loaded only by tests that name them. {@link LimitAssert}
 * needs AssertJ, and nothing else does. Tests also use what the other packages have: {@link
 * io.github.virtualthread.limit.TaskLimit#occupy} and {@code VirtualThreads.awaitIdle}.
 */
@NullMarked
package io.github.virtualthread.test;

import org.jspecify.annotations.NullMarked;
