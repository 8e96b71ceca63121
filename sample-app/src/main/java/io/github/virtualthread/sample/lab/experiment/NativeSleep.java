package io.github.virtualthread.sample.lab.experiment;

import java.lang.invoke.MethodHandle;
import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.util.Optional;

/** A sleep in native code, by the foreign-function interface. By reflection, because that is there from Java 22 on. */
final class NativeSleep {

    static final int FIRST_JAVA = 22;

    private static final String FOREIGN = "java.lang.foreign.";

    private final MethodHandle usleep;

    private NativeSleep(MethodHandle usleep) {
        this.usleep = usleep;
    }

    /** Empty where this Java or this system does not have it. */
    static Optional<NativeSleep> find() {
        if (Runtime.version().feature() < FIRST_JAVA) {
            return Optional.empty();
        }
        try {
            Class<?> linkers = Class.forName(FOREIGN + "Linker");
            Class<?> layouts = Class.forName(FOREIGN + "MemoryLayout");
            Class<?> descriptors = Class.forName(FOREIGN + "FunctionDescriptor");
            Object linker = linkers.getMethod("nativeLinker").invoke(null);
            Object lookup = linkers.getMethod("defaultLookup").invoke(linker);
            Optional<?> address = (Optional<?>) Class.forName(FOREIGN + "SymbolLookup")
                    .getMethod("find", String.class)
                    .invoke(lookup, "usleep");
            if (address.isEmpty()) {
                return Optional.empty();
            }
            Object number =
                    Class.forName(FOREIGN + "ValueLayout").getField("JAVA_INT").get(null);
            Object arguments = Array.newInstance(layouts, 1);
            Array.set(arguments, 0, number);
            Object signature =
                    descriptors.getMethod("of", layouts, arguments.getClass()).invoke(null, number, arguments);
            Class<?> options = Class.forName(FOREIGN + "Linker$Option").arrayType();
            return Optional.of(new NativeSleep((MethodHandle)
                    linkers.getMethod("downcallHandle", Class.forName(FOREIGN + "MemorySegment"), descriptors, options)
                            .invoke(linker, address.get(), signature, Array.newInstance(options.componentType(), 0))));
        } catch (ClassNotFoundException
                | NoSuchMethodException
                | NoSuchFieldException
                | IllegalAccessException
                | InvocationTargetException missing) {
            return Optional.empty();
        }
    }

    /** Blocks the thread, and its carrier with it. */
    void millis(int millis) {
        try {
            Object unused = usleep.invoke(millis * 1_000);
        } catch (Throwable failure) {
            throw new IllegalStateException("usleep cannot be called", failure);
        }
    }
}
