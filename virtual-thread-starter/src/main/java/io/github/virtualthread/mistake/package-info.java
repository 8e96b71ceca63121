/**
 * Mistakes in an application, and how messages name them. Start at {@link Mistake}.
 *
 * <p>JDK only. Used by every package that checks something; knows none of them.
 */
@NullMarked
package io.github.virtualthread.mistake;

import org.jspecify.annotations.NullMarked;
