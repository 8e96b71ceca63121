package io.github.virtualthread.bytecode;

import io.github.virtualthread.bytecode.SelfCalls.SelfCall;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;

/**
 * What the instance methods of one class call on their own object. Methods are written with their descriptors, as in {@code
 * send(J)V}.
 *
 * <p>The class file is read at once; its code, which takes most of the time, is visited only on request.
 */
final class ClassCode extends ClassVisitor {

    /** Tag in the constant pool of the entries that every call refers to, and no declaration does. */
    private static final int NAME_AND_TYPE = 12;

    private static final int WITHOUT_CODE = Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE;

    private final Class<?> type;

    /** Methods that override those of the same name and descriptor in supertypes. */
    final Set<String> overridable = new HashSet<>();

    /** Methods of supertypes that are called by {@code super}, so that they run even if they are overridden. */
    final Set<String> superCalls = new HashSet<>();

    final List<Call> calls = new ArrayList<>();

    private final @Nullable ClassReader reader;
    private final Set<String> hidden = new HashSet<>();
    private final Set<String> synthetic = new HashSet<>();
    private final Map<String, String> lambdas = new HashMap<>();
    private @Nullable String sourceFile;
    private boolean visited;

    /** Reads the file of a class. A generated class may have none and then counts as one without code. */
    ClassCode(Class<?> type) {
        super(Opcodes.ASM9);
        this.type = type;
        String name = type.getName();
        try (InputStream stream = type.getResourceAsStream(name.substring(name.lastIndexOf('.') + 1) + ".class")) {
            reader = stream == null ? null : new ClassReader(stream);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /** Whether the code may call one of the methods. */
    boolean mentions(Set<String> methods) {
        if (reader == null) {
            return false;
        }
        char[] buffer = new char[reader.getMaxStringLength()];
        for (int i = 1; i < reader.getItemCount(); i++) {
            int item = reader.getItem(i);
            if (item > 0
                    && reader.readByte(item - 1) == NAME_AND_TYPE
                    && methods.contains(reader.readUTF8(item, buffer) + reader.readUTF8(item + 2, buffer))) {
                return true;
            }
        }
        return false;
    }

    /** Visits the code when called for the first time. Before that the calls are not known. */
    void visit() {
        if (!visited && reader != null) {
            reader.accept(this, ClassReader.SKIP_FRAMES);
        }
        visited = true;
    }

    /**
     * Adds the calls of some methods, once the code was visited. A private method cannot be one of them, and a synthetic method
     * that is not the body of a lambda was not written by a user.
     *
     * @param overridden methods that do not run
     */
    void addCalls(Map<String, Method> callees, Set<String> overridden, Set<SelfCall> found) {
        for (Call call : calls) {
            String caller = enclosing(call.caller());
            Method callee = hidden.contains(call.callee()) ? null : callees.get(call.callee());
            if (callee != null && !synthetic.contains(caller) && !overridden.contains(caller)) {
                String name = caller.substring(0, caller.indexOf('('));
                StackTraceElement place = new StackTraceElement(type.getName(), name, sourceFile, call.line());
                found.add(new SelfCall(type, place, callee));
            }
        }
    }

    /** Adds an instruction that makes a lambda or a method reference of a method of the object. */
    void addReference(String caller, int line, String callee) {
        calls.add(new Call(caller, line, callee));
        lambdas.put(callee, caller);
    }

    @Override
    public void visitSource(@Nullable String source, @Nullable String debug) {
        sourceFile = source;
    }

    @Override
    public @Nullable MethodVisitor visitMethod(
            int access, String name, String descriptor, @Nullable String signature, String @Nullable [] exceptions) {
        String method = name + descriptor;
        if ((access & Opcodes.ACC_STATIC) != 0) {
            return null;
        }
        ((access & Opcodes.ACC_PRIVATE) == 0 ? overridable : hidden).add(method);
        if ((access & Opcodes.ACC_SYNTHETIC) != 0) {
            synthetic.add(method);
        }
        return (access & (WITHOUT_CODE | Opcodes.ACC_BRIDGE)) == 0 ? new ThisTracker(method, this) : null;
    }

    /** A call in a lambda counts as a call of the method around it. */
    private String enclosing(String method) {
        String enclosing = method;
        // bounded, so that a broken class file cannot keep the start in an endless loop
        for (int depth = 0; depth < lambdas.size() && synthetic.contains(enclosing); depth++) {
            enclosing = lambdas.getOrDefault(enclosing, enclosing);
        }
        return enclosing;
    }

    /**
     * An instruction by which an object calls a method of its own.
     *
     * @param caller method that contains the instruction
     * @param line line of the instruction, -1 if the class file does not tell
     * @param callee method that is called
     */
    record Call(String caller, int line, String callee) {}
}
