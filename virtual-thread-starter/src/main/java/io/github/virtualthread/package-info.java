/**
 * Runs service methods on virtual threads and bounds what they call. Start at {@link VirtualThread}.
 *
 * <p>A leaf: the annotation knows none of the packages that act on it.
 */
@NullMarked
package io.github.virtualthread;

import org.jspecify.annotations.NullMarked;
