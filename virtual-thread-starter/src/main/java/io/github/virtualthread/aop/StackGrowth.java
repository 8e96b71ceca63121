package io.github.virtualthread.aop;

import org.springframework.asm.Opcodes;

/** By how many slots the operand stack grows with an instruction that has no operands in the code. */
final class StackGrowth {

    private StackGrowth() {}

    /**
     * Looks up the growth, negative where the stack shrinks.
     *
     * @param opcode an instruction that neither duplicates nor swaps slots nor ends the method
     * @see <a href="https://docs.oracle.com/javase/specs/jvms/se21/html/jvms-6.html">JVM Specification, chapter 6</a>
     */
    static int of(int opcode) {
        return switch (opcode) {
            case Opcodes.LCONST_0, Opcodes.LCONST_1, Opcodes.DCONST_0, Opcodes.DCONST_1 -> 2;
            case Opcodes.ACONST_NULL, Opcodes.ICONST_M1, Opcodes.ICONST_0, Opcodes.ICONST_1 -> 1;
            case Opcodes.ICONST_2, Opcodes.ICONST_3, Opcodes.ICONST_4, Opcodes.ICONST_5 -> 1;
            case Opcodes.FCONST_0, Opcodes.FCONST_1, Opcodes.FCONST_2 -> 1;
            case Opcodes.I2L, Opcodes.I2D, Opcodes.F2L, Opcodes.F2D -> 1;
            case Opcodes.IALOAD, Opcodes.FALOAD, Opcodes.AALOAD, Opcodes.BALOAD, Opcodes.CALOAD, Opcodes.SALOAD -> -1;
            case Opcodes.IADD, Opcodes.ISUB, Opcodes.IMUL, Opcodes.IDIV, Opcodes.IREM -> -1;
            case Opcodes.IAND, Opcodes.IOR, Opcodes.IXOR, Opcodes.ISHL, Opcodes.ISHR, Opcodes.IUSHR -> -1;
            case Opcodes.LSHL, Opcodes.LSHR, Opcodes.LUSHR, Opcodes.L2I, Opcodes.L2F -> -1;
            case Opcodes.FADD, Opcodes.FSUB, Opcodes.FMUL, Opcodes.FDIV, Opcodes.FREM -> -1;
            case Opcodes.FCMPL, Opcodes.FCMPG, Opcodes.D2I, Opcodes.D2F -> -1;
            case Opcodes.POP, Opcodes.MONITORENTER, Opcodes.MONITOREXIT -> -1;
            case Opcodes.LADD, Opcodes.LSUB, Opcodes.LMUL, Opcodes.LDIV, Opcodes.LREM -> -2;
            case Opcodes.LAND, Opcodes.LOR, Opcodes.LXOR -> -2;
            case Opcodes.DADD, Opcodes.DSUB, Opcodes.DMUL, Opcodes.DDIV, Opcodes.DREM, Opcodes.POP2 -> -2;
            case Opcodes.IASTORE, Opcodes.FASTORE, Opcodes.AASTORE -> -3;
            case Opcodes.BASTORE, Opcodes.CASTORE, Opcodes.SASTORE -> -3;
            case Opcodes.LCMP, Opcodes.DCMPL, Opcodes.DCMPG -> -3;
            case Opcodes.LASTORE, Opcodes.DASTORE -> -4;
            // loads of wide values from arrays, conversions between types of one size, and the like
            default -> 0;
        };
    }
}
