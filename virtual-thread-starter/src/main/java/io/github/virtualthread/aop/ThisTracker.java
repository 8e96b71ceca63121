package io.github.virtualthread.aop;

import io.github.virtualthread.aop.CallOnThis.Kind;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.springframework.asm.ConstantDynamic;
import org.springframework.asm.Handle;
import org.springframework.asm.Label;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.Type;

/**
 * Follows {@code this} through the operand stack of one instance method, to find the calls that the object makes to itself.
 *
 * <p>Only what is loaded as {@code this} counts, not what a variable, a field or another method gives. Where several ways
 * meet, it must be {@code this} on each.
 */
final class ThisTracker extends MethodVisitor {

    private static final String LAMBDAS = "java/lang/invoke/LambdaMetafactory";

    private final String method;
    private final Consumer<CallOnThis> found;
    private final Map<Label, OperandStack> atTargets = new HashMap<>();
    private OperandStack stack = new OperandStack();
    private boolean reached = true;
    private boolean isThisInPlace = true;
    private int line = -1;

    ThisTracker(String method, Consumer<CallOnThis> found) {
        super(Opcodes.ASM9);
        this.method = method;
        this.found = found;
    }

    @Override
    public void visitLineNumber(int line, Label start) {
        this.line = line;
    }

    @Override
    public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
        int sizes = Type.getArgumentsAndReturnSizes(descriptor);
        int arguments = opcode == Opcodes.INVOKESTATIC ? (sizes >> 2) - 1 : sizes >> 2;
        if (opcode != Opcodes.INVOKESTATIC && stack.holdsThis(arguments - 1)) {
            add(name + descriptor, opcode == Opcodes.INVOKESPECIAL ? Kind.SPECIAL : Kind.VIRTUAL);
        }
        stack.pop(arguments);
        stack.push(sizes & 3);
    }

    @Override
    public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
        int sizes = Type.getArgumentsAndReturnSizes(descriptor);
        int captured = (sizes >> 2) - 1;
        if (captured > 0
                && stack.holdsThis(captured - 1)
                && bootstrap.getOwner().equals(LAMBDAS)
                && arguments[1] instanceof Handle body) {
            add(body.getName() + body.getDesc(), Kind.REFERENCE);
        }
        stack.pop(captured);
        stack.push(sizes & 3);
    }

    private void add(String callee, Kind kind) {
        found.accept(new CallOnThis(method, line, callee, kind));
    }

    @Override
    public void visitVarInsn(int opcode, int variable) {
        switch (opcode) {
            case Opcodes.ALOAD -> {
                if (variable == 0 && isThisInPlace) {
                    stack.pushThis();
                } else {
                    stack.push(1);
                }
            }
            case Opcodes.ILOAD, Opcodes.FLOAD -> stack.push(1);
            case Opcodes.LLOAD, Opcodes.DLOAD -> stack.push(2);
            case Opcodes.LSTORE, Opcodes.DSTORE -> stack.pop(2);
            default -> {
                stack.pop(1);
                // compilers for other languages may use the variable again
                isThisInPlace &= variable != 0;
            }
        }
    }

    @Override
    public void visitInsn(int opcode) {
        switch (opcode) {
            case Opcodes.DUP -> stack.duplicate(1, 0);
            case Opcodes.DUP_X1 -> stack.duplicate(1, 1);
            case Opcodes.DUP_X2 -> stack.duplicate(1, 2);
            case Opcodes.DUP2 -> stack.duplicate(2, 0);
            case Opcodes.DUP2_X1 -> stack.duplicate(2, 1);
            case Opcodes.DUP2_X2 -> stack.duplicate(2, 2);
            case Opcodes.SWAP -> {
                stack.duplicate(1, 1);
                stack.pop(1);
            }
            // none of these puts a result in the place of this
            default -> stack.grow(StackGrowth.of(opcode));
        }
        if (opcode == Opcodes.ATHROW || (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN)) {
            leave();
        }
    }

    @Override
    public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
        int size = descriptor.equals("J") || descriptor.equals("D") ? 2 : 1;
        switch (opcode) {
            case Opcodes.GETSTATIC -> stack.push(size);
            case Opcodes.PUTSTATIC -> stack.pop(size);
            case Opcodes.PUTFIELD -> stack.pop(1 + size);
            default -> {
                stack.pop(1);
                stack.push(size);
            }
        }
    }

    @Override
    public void visitTypeInsn(int opcode, String type) {
        // a cast changes nothing
        if (opcode == Opcodes.INSTANCEOF) {
            stack.pop(1);
        }
        if (opcode == Opcodes.INSTANCEOF || opcode == Opcodes.NEW) {
            stack.push(1);
        }
    }

    @Override
    public void visitIntInsn(int opcode, int operand) {
        stack.push(opcode == Opcodes.NEWARRAY ? 0 : 1);
    }

    @Override
    public void visitLdcInsn(Object value) {
        boolean isWide = value instanceof Long
                || value instanceof Double
                || (value instanceof ConstantDynamic constant && constant.getSize() == 2);
        stack.push(isWide ? 2 : 1);
    }

    @Override
    public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
        stack.pop(dimensions);
        stack.push(1);
    }

    @Override
    public void visitJumpInsn(int opcode, Label label) {
        boolean comparesTwo = opcode >= Opcodes.IF_ICMPEQ && opcode <= Opcodes.IF_ACMPNE;
        boolean isUnconditional = opcode == Opcodes.GOTO;
        stack.pop(isUnconditional ? 0 : comparesTwo ? 2 : 1);
        jumpTo(label);
        if (isUnconditional) {
            leave();
        }
    }

    @Override
    public void visitTableSwitchInsn(int min, int max, Label otherwise, Label... labels) {
        visitLookupSwitchInsn(otherwise, new int[0], labels);
    }

    @Override
    public void visitLookupSwitchInsn(Label otherwise, int[] keys, Label[] labels) {
        stack.pop(1);
        jumpTo(otherwise);
        for (Label label : labels) {
            jumpTo(label);
        }
        leave();
    }

    @Override
    public void visitTryCatchBlock(Label start, Label end, Label handler, String type) {
        OperandStack thrown = new OperandStack();
        thrown.push(1);
        atTargets.put(handler, thrown);
    }

    @Override
    public void visitLabel(Label label) {
        OperandStack other = atTargets.get(label);
        if (other != null) {
            stack = reached ? stack.and(other) : other.copy();
        }
        reached = true;
    }

    private void jumpTo(Label label) {
        atTargets.merge(label, stack.copy(), OperandStack::and);
    }

    /** What comes next is reached by jumps only; where nothing is known of them, it begins with an empty stack. */
    private void leave() {
        stack = new OperandStack();
        reached = false;
    }
}
