package io.github.virtualthread.aop;

/**
 * An instruction by which an object calls a method of its own. Methods are written with their descriptors, as in {@code
 * send(J)V}.
 *
 * @param caller method that contains the instruction
 * @param line its line, -1 where the class file does not tell
 * @param callee method that it calls
 * @param kind how it does so
 */
record CallOnThis(String caller, int line, String callee, Kind kind) {

    CallOnThis from(String other) {
        return new CallOnThis(other, line, callee, kind);
    }

    enum Kind {
        /** The class of the object decides which method runs. */
        VIRTUAL,
        /** The very method that is named runs, as with {@code super.send()}. */
        SPECIAL,
        /** Made a lambda or a method reference of, to be called by others. */
        REFERENCE
    }
}
