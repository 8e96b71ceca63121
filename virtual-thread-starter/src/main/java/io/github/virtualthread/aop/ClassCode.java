package io.github.virtualthread.aop;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;

/** What the instance methods of one class call on their own object; to be handed to a reader of its class file. */
final class ClassCode extends ClassVisitor {

    private static final int WITHOUT_CODE = Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE;

    private final Set<String> overridable = new HashSet<>();
    private final Set<String> hidden = new HashSet<>();
    private final Set<String> synthetic = new HashSet<>();
    private final Set<String> superCalls = new HashSet<>();
    private final Map<String, String> lambdas = new HashMap<>();
    private final List<CallOnThis> calls = new ArrayList<>();
    private @Nullable String sourceFile;

    ClassCode() {
        super(Opcodes.ASM9);
    }

    /** Methods that run in place of those of the same name and descriptor further up. */
    Set<String> overridable() {
        return overridable;
    }

    /** Name of the source file, where the class file tells. */
    @Nullable
    String sourceFile() {
        return sourceFile;
    }

    /** Methods further up that run although they may be overridden here. */
    Set<String> superCalls() {
        return superCalls;
    }

    /**
     * Calls whose target the class of the object decides; those in lambdas as calls of the method around them. Without calls
     * of private methods, which nobody overrides.
     */
    List<CallOnThis> calls() {
        return calls;
    }

    @Override
    public void visitEnd() {
        calls.removeIf(call -> hidden.contains(call.callee()));
        calls.replaceAll(call -> call.from(enclosing(call.caller())));
        // what no lambda is made of is something that no user wrote
        calls.removeIf(call -> synthetic.contains(call.caller()));
    }

    private String enclosing(String method) {
        String enclosing = method;
        // a class file may lie, and must not keep the start in a circle
        for (int depth = 0; depth < lambdas.size() && synthetic.contains(enclosing); depth++) {
            enclosing = lambdas.getOrDefault(enclosing, enclosing);
        }
        return enclosing;
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
        boolean isBridge = (access & Opcodes.ACC_BRIDGE) != 0;
        return isBridge || (access & WITHOUT_CODE) != 0 ? null : new ThisTracker(method, this::add);
    }

    private void add(CallOnThis call) {
        switch (call.kind()) {
            case VIRTUAL -> calls.add(call);
            case SPECIAL -> superCalls.add(call.callee());
            case REFERENCE -> {
                calls.add(call);
                lambdas.put(call.callee(), call.caller());
            }
        }
    }
}
