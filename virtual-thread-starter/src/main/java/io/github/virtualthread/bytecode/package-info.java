/**
 * Finds calls that objects make to themselves, in the byte code of their classes. Start at {@link SelfCalls}.
 *
 * <p>JDK and the ASM that Spring repackages. Used by {@code aop}; knows no other package.
 */
@NullMarked
package io.github.virtualthread.bytecode;

import org.jspecify.annotations.NullMarked;
