package io.github.virtualthread.bytecode;

import java.math.BigInteger;
import java.util.HashMap;
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
final class ThisTracker extends MethodVisitor implements Opcodes {

    private static final String LAMBDAS = "java/lang/invoke/LambdaMetafactory";

    private final String method;
    private final ClassCode code;
    private final Map<Label, BigInteger> atTargets = new HashMap<>();

    /**
     * The slots of the operand stack, the topmost in the lowest bit. A bit is set if its slot certainly holds {@code this}. All above the
     * highest of them count as something else, so a stack may begin empty anywhere.
     */
    private BigInteger stack = BigInteger.ZERO;

    private boolean reached = true;
    private boolean isThisInPlace = true;
    private int line = -1;

    ThisTracker(String method, ClassCode code) {
        super(ASM9);
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
        int arguments = opcode == INVOKESTATIC ? (sizes >> 2) - 1 : sizes >> 2;
        if (opcode != INVOKESTATIC && stack.testBit(arguments - 1)) {
            if (opcode == INVOKESPECIAL) {
                code.superCalls.add(name + descriptor);
            } else {
                code.calls.add(new ClassCode.Call(method, line, name + descriptor));
            }
        }
        replace(arguments, sizes & 3);
    }

    @Override
    public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
        int sizes = Type.getArgumentsAndReturnSizes(descriptor);
        int captured = (sizes >> 2) - 1;
        if (captured > 0
                && stack.testBit(captured - 1)
                && bootstrap.getOwner().equals(LAMBDAS)
                && arguments[1] instanceof Handle body) {
            code.addReference(method, line, body.getName() + body.getDesc());
        }
        replace(captured, sizes & 3);
    }

    @Override
    public void visitVarInsn(int opcode, int variable) {
        grow(opcode);
        if (opcode == ALOAD && variable == 0 && isThisInPlace) {
            stack = stack.setBit(0);
        }
        // compilers of other languages may store something else in the variable that holds this
        isThisInPlace &= opcode < ISTORE || variable != 0;
    }

    @Override
    public void visitInsn(int opcode) {
        switch (opcode) {
            case DUP -> duplicate(1, 0);
            case DUP_X1 -> duplicate(1, 1);
            case DUP_X2 -> duplicate(1, 2);
            case DUP2 -> duplicate(2, 0);
            case DUP2_X1 -> duplicate(2, 1);
            case DUP2_X2 -> duplicate(2, 2);
            case SWAP -> {
                duplicate(1, 1);
                replace(1, 0);
            }
            default -> grow(opcode);
        }
        if (opcode == ATHROW || (opcode >= IRETURN && opcode <= RETURN)) {
            leave();
        }
    }

    @Override
    public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
        int size = descriptor.equals("J") || descriptor.equals("D") ? 2 : 1;
        switch (opcode) {
            case GETSTATIC -> replace(0, size);
            case PUTSTATIC -> replace(size, 0);
            case PUTFIELD -> replace(1 + size, 0);
            default -> replace(1, size);
        }
    }

    @Override
    public void visitTypeInsn(int opcode, String type) {
        grow(opcode);
    }

    @Override
    public void visitIntInsn(int opcode, int operand) {
        grow(opcode);
    }

    @Override
    public void visitLdcInsn(Object value) {
        boolean isWide = value instanceof Long
                || value instanceof Double
                || (value instanceof ConstantDynamic constant && constant.getSize() == 2);
        replace(0, isWide ? 2 : 1);
    }

    @Override
    public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
        replace(dimensions, 1);
    }

    @Override
    public void visitJumpInsn(int opcode, Label label) {
        grow(opcode);
        jumpTo(label);
        if (opcode == GOTO) {
            leave();
        }
    }

    @Override
    public void visitTableSwitchInsn(int min, int max, Label otherwise, Label... labels) {
        visitLookupSwitchInsn(otherwise, new int[0], labels);
    }

    @Override
    public void visitLookupSwitchInsn(Label otherwise, int[] keys, Label[] labels) {
        replace(1, 0);
        jumpTo(otherwise);
        for (Label label : labels) {
            jumpTo(label);
        }
        leave();
    }

    @Override
    public void visitTryCatchBlock(Label start, Label end, Label handler, String type) {
        atTargets.put(handler, BigInteger.ZERO); // with what was thrown
    }

    @Override
    public void visitLabel(Label label) {
        BigInteger other = atTargets.get(label);
        if (other != null) { // it must be this on each way
            stack = reached ? stack.and(other) : other;
        }
        reached = true;
    }

    private void jumpTo(Label label) {
        atTargets.merge(label, stack, BigInteger::and);
    }

    /** The next instruction is reached by jumps only. If none is known, it begins with an empty stack. */
    private void leave() {
        stack = BigInteger.ZERO;
        reached = false;
    }

    /** Pops slots, and pushes others that do not hold {@code this}. */
    private void replace(int popped, int pushed) {
        stack = stack.shiftRight(popped).shiftLeft(pushed);
    }

    /** Copies the topmost slots, and inserts the copy below them and below {@code skipped} more. */
    private void duplicate(int size, int skipped) {
        BigInteger below = stack.shiftRight(size + skipped);
        stack = below.shiftLeft(size).or(top(size)).shiftLeft(size + skipped).or(top(size + skipped));
    }

    private BigInteger top(int size) {
        return stack.and(BigInteger.ONE.shiftLeft(size).subtract(BigInteger.ONE));
    }

    /**
     * Pushes and pops like an instruction that never puts another object into a slot that held {@code this}. It may put a
     * number there, which does no harm: methods are not called on numbers.
     */
    private void grow(int opcode) {
        stack = stack.shiftLeft(growth(opcode));
    }

    /**
     * Returns by how many slots an instruction makes the stack grow; negative if it makes the stack shrink.
     *
     * @param opcode an instruction for which that does not depend on its operands
     * @see <a href="https://docs.oracle.com/javase/specs/jvms/se21/html/jvms-6.html">JVM Specification, chapter 6</a>
     */
    private static int growth(int opcode) {
        return switch (opcode) {
            case LCONST_0, LCONST_1, DCONST_0, DCONST_1, LLOAD, DLOAD -> 2;
            case ACONST_NULL, ICONST_M1, ICONST_0, ICONST_1, ICONST_2, ICONST_3, ICONST_4, ICONST_5 -> 1;
            case FCONST_0, FCONST_1, FCONST_2, BIPUSH, SIPUSH, ILOAD, FLOAD, ALOAD, NEW, I2L, I2D, F2L, F2D -> 1;
            case IALOAD, FALOAD, AALOAD, BALOAD, CALOAD, SALOAD, ISTORE, FSTORE, ASTORE, POP -> -1;
            case IADD, ISUB, IMUL, IDIV, IREM, IAND, IOR, IXOR, ISHL, ISHR, IUSHR, LSHL, LSHR, LUSHR -> -1;
            case FADD, FSUB, FMUL, FDIV, FREM, FCMPL, FCMPG, L2I, L2F, D2I, D2F, MONITORENTER, MONITOREXIT -> -1;
            case IFEQ, IFNE, IFLT, IFGE, IFGT, IFLE, IFNULL, IFNONNULL -> -1;
            case LADD, LSUB, LMUL, LDIV, LREM, LAND, LOR, LXOR, DADD, DSUB, DMUL, DDIV, DREM -> -2;
            case LSTORE, DSTORE, POP2 -> -2;
            case IF_ICMPEQ, IF_ICMPNE, IF_ICMPLT, IF_ICMPGE, IF_ICMPGT, IF_ICMPLE, IF_ACMPEQ, IF_ACMPNE -> -2;
            case LCMP, DCMPL, DCMPG, IASTORE, FASTORE, AASTORE, BASTORE, CASTORE, SASTORE -> -3;
            case LASTORE, DASTORE -> -4;
            // loads of wide values from arrays, conversions between types of one size, casts, and the like
            default -> 0;
        };
    }
}
