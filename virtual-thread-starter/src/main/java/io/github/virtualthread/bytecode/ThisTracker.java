package io.github.virtualthread.bytecode;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.springframework.asm.ConstantDynamic;
import org.springframework.asm.Handle;
import org.springframework.asm.Label;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.Type;

/**
 * Follows {@code this} through the operand stack of one instance method, to find the calls that the object makes to itself.
 *
 * <p>A value counts only if it is loaded as {@code this}; the value of another variable, of a field or of a method does not.
 * Where branches meet, it must be {@code this} on each of them.
 */
final class ThisTracker extends MethodVisitor {

    private static final String LAMBDAS = "java/lang/invoke/LambdaMetafactory";

    private final String method;
    private final ClassCode code;
    private final Map<Label, OperandStack> atTargets = new HashMap<>();
    private OperandStack stack = new OperandStack();
    private boolean reached = true;
    private boolean isThisInPlace = true;
    private int line = -1;

    ThisTracker(String method, ClassCode code) {
        super(Opcodes.ASM9);
        this.method = method;
        this.code = code;
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
            if (opcode == Opcodes.INVOKESPECIAL) {
                code.addSuperCall(name + descriptor);
            } else {
                code.addCall(method, line, name + descriptor);
            }
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
            code.addReference(method, line, body.getName() + body.getDesc());
        }
        stack.pop(captured);
        stack.push(sizes & 3);
    }

    @Override
    public void visitVarInsn(int opcode, int variable) {
        if (opcode == Opcodes.ALOAD && variable == 0 && isThisInPlace) {
            stack.pushThis();
        } else {
            stack.grow(opcode);
        }
        // compilers of other languages may store something else in the variable that holds this
        isThisInPlace &= opcode < Opcodes.ISTORE || variable != 0;
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
            default -> stack.grow(opcode);
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
        stack.grow(opcode);
    }

    @Override
    public void visitIntInsn(int opcode, int operand) {
        stack.grow(opcode);
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
        stack.grow(opcode);
        jumpTo(label);
        if (opcode == Opcodes.GOTO) {
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

    /** The next instruction is reached by jumps only. If none is known, it begins with an empty stack. */
    private void leave() {
        stack = new OperandStack();
        reached = false;
    }

    /**
     * The operand stack of a running method. It only records which slots certainly hold {@code this}.
     *
     * <p>Slots below the recorded ones count as something else. So a stack may begin empty anywhere.
     */
    private static final class OperandStack {

        /** Whether a slot holds {@code this}; the top is the last one. */
        private final List<Boolean> slots = new ArrayList<>();

        /** Whether a slot holds {@code this}; the slot at the top has depth 0. */
        boolean holdsThis(int depth) {
            return depth < slots.size() && slots.get(slots.size() - 1 - depth);
        }

        void pushThis() {
            slots.add(true);
        }

        /** Pushes slots that do not hold {@code this}. */
        void push(int size) {
            for (int i = 0; i < size; i++) {
                slots.add(false);
            }
        }

        void pop(int size) {
            slots.subList(Math.max(0, slots.size() - size), slots.size()).clear();
        }

        /**
         * Pushes and pops like an instruction that never puts another object into a slot that held {@code this}. It may put a
         * number there, which does no harm: methods are not called on numbers.
         */
        void grow(int opcode) {
            int growth = growth(opcode);
            if (growth > 0) {
                push(growth);
            } else {
                pop(-growth);
            }
        }

        /** Copies the topmost slots, and inserts the copy below them and below {@code skipped} more. */
        void duplicate(int size, int skipped) {
            while (slots.size() < size + skipped) {
                slots.add(0, false);
            }
            int top = slots.size() - size;
            slots.addAll(top - skipped, List.copyOf(slots.subList(top, slots.size())));
        }

        /** Returns a stack whose slots hold {@code this} if they do so in both. */
        OperandStack and(OperandStack other) {
            OperandStack both = new OperandStack();
            for (int depth = Math.min(slots.size(), other.slots.size()) - 1; depth >= 0; depth--) {
                both.slots.add(holdsThis(depth) && other.holdsThis(depth));
            }
            return both;
        }

        OperandStack copy() {
            OperandStack copy = new OperandStack();
            copy.slots.addAll(slots);
            return copy;
        }

        /**
         * Returns by how many slots an instruction makes the stack grow; negative if it makes the stack shrink.
         *
         * @param opcode an instruction for which that does not depend on its operands
         * @see <a href="https://docs.oracle.com/javase/specs/jvms/se21/html/jvms-6.html">JVM Specification, chapter 6</a>
         */
        private static int growth(int opcode) {
            return switch (opcode) {
                case Opcodes.LCONST_0, Opcodes.LCONST_1, Opcodes.DCONST_0, Opcodes.DCONST_1 -> 2;
                case Opcodes.LLOAD, Opcodes.DLOAD -> 2;
                case Opcodes.ACONST_NULL, Opcodes.ICONST_M1, Opcodes.ICONST_0, Opcodes.ICONST_1 -> 1;
                case Opcodes.ICONST_2, Opcodes.ICONST_3, Opcodes.ICONST_4, Opcodes.ICONST_5 -> 1;
                case Opcodes.FCONST_0, Opcodes.FCONST_1, Opcodes.FCONST_2 -> 1;
                case Opcodes.ILOAD, Opcodes.FLOAD, Opcodes.ALOAD, Opcodes.BIPUSH, Opcodes.SIPUSH, Opcodes.NEW -> 1;
                case Opcodes.I2L, Opcodes.I2D, Opcodes.F2L, Opcodes.F2D -> 1;
                case Opcodes.IALOAD, Opcodes.FALOAD, Opcodes.AALOAD, Opcodes.BALOAD, Opcodes.CALOAD, Opcodes.SALOAD ->
                    -1;
                case Opcodes.IADD, Opcodes.ISUB, Opcodes.IMUL, Opcodes.IDIV, Opcodes.IREM -> -1;
                case Opcodes.IAND, Opcodes.IOR, Opcodes.IXOR, Opcodes.ISHL, Opcodes.ISHR, Opcodes.IUSHR -> -1;
                case Opcodes.LSHL, Opcodes.LSHR, Opcodes.LUSHR, Opcodes.L2I, Opcodes.L2F -> -1;
                case Opcodes.FADD, Opcodes.FSUB, Opcodes.FMUL, Opcodes.FDIV, Opcodes.FREM -> -1;
                case Opcodes.FCMPL, Opcodes.FCMPG, Opcodes.D2I, Opcodes.D2F -> -1;
                case Opcodes.ISTORE, Opcodes.FSTORE, Opcodes.ASTORE -> -1;
                case Opcodes.IFEQ, Opcodes.IFNE, Opcodes.IFLT, Opcodes.IFGE, Opcodes.IFGT, Opcodes.IFLE -> -1;
                case Opcodes.IFNULL, Opcodes.IFNONNULL -> -1;
                case Opcodes.POP, Opcodes.MONITORENTER, Opcodes.MONITOREXIT -> -1;
                case Opcodes.LADD, Opcodes.LSUB, Opcodes.LMUL, Opcodes.LDIV, Opcodes.LREM -> -2;
                case Opcodes.LAND, Opcodes.LOR, Opcodes.LXOR -> -2;
                case Opcodes.DADD, Opcodes.DSUB, Opcodes.DMUL, Opcodes.DDIV, Opcodes.DREM, Opcodes.POP2 -> -2;
                case Opcodes.LSTORE, Opcodes.DSTORE -> -2;
                case Opcodes.IF_ICMPEQ, Opcodes.IF_ICMPNE, Opcodes.IF_ICMPLT, Opcodes.IF_ICMPGE -> -2;
                case Opcodes.IF_ICMPGT, Opcodes.IF_ICMPLE, Opcodes.IF_ACMPEQ, Opcodes.IF_ACMPNE -> -2;
                case Opcodes.IASTORE, Opcodes.FASTORE, Opcodes.AASTORE -> -3;
                case Opcodes.BASTORE, Opcodes.CASTORE, Opcodes.SASTORE -> -3;
                case Opcodes.LCMP, Opcodes.DCMPL, Opcodes.DCMPG -> -3;
                case Opcodes.LASTORE, Opcodes.DASTORE -> -4;
                // loads of wide values from arrays, conversions between types of one size, casts, and the like
                default -> 0;
            };
        }
    }
}
