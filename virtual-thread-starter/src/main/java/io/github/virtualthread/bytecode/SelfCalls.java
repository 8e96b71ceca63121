package io.github.virtualthread.bytecode;

import io.github.virtualthread.Internal;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springframework.asm.Type;

/**
 * Finds the calls that objects make to themselves. Reads each class file once.
 *
 * <p>Not thread-safe.
 */
@Internal
public final class SelfCalls {

    private final Map<Class<?>, ClassCode> read = new HashMap<>();

    /** Creates a finder that has not read a class file yet. */
    public SelfCalls() {}

    /**
     * Finds the calls of some methods that an object makes to itself.
     *
     * @param types where to look: the class of the object and its supertypes, each before those it extends
     * @param methods the methods, as declared in any of the types
     * @return each call once, by class, in the order of the code
     * @throws UncheckedIOException if a class file cannot be read
     */
    public Set<SelfCall> find(Collection<Class<?>> types, Collection<Method> methods) {
        Map<String, Method> callees = new HashMap<>();
        methods.forEach(method -> callees.put(method.getName() + Type.getMethodDescriptor(method), method));
        List<ClassCode> classes = types.stream()
                .map(type -> read.computeIfAbsent(type, ClassCode::new))
                .toList();
        // a finally block is compiled more than once
        Set<SelfCall> found = new LinkedHashSet<>();
        if (classes.stream().noneMatch(code -> code.mentions(callees.keySet()))) {
            return found;
        }
        Set<String> overridden = new HashSet<>();
        for (ClassCode code : classes) {
            code.visit();
            code.addCalls(callees, overridden, found);
            overridden.addAll(code.overridable);
            // these run although they are overridden
            overridden.removeAll(code.superCalls);
        }
        return found;
    }

    /**
     * A call that an object makes to itself.
     *
     * @param type class or interface that contains the call
     * @param place method, file and line of the call
     * @param callee one of the methods that were asked for
     */
    public record SelfCall(Class<?> type, StackTraceElement place, Method callee) {}
}
