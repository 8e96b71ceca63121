/**
 * The one timer of an application, and threads for what must not run on it. Start at {@link TaskTimer}.
 *
 * <p>Needs the JDK only; knows no other package.
 */
@NullMarked
package io.github.virtualthread.timer;

import org.jspecify.annotations.NullMarked;
