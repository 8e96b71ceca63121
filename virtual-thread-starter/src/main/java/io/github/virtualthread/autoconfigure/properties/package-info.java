/**
 * The properties, and what becomes of them: bound, checked, merged, refreshed. Start at {@link VirtualThreadProperties}.
 *
 * <p>Knows what the properties set, and nothing of the beans and conditions that follow from it.
 */
@NullMarked
package io.github.virtualthread.autoconfigure.properties;

import org.jspecify.annotations.NullMarked;
