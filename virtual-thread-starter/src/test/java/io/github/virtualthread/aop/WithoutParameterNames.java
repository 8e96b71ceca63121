package io.github.virtualthread.aop;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.ClassWriter;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.SpringAsmInfo;

/** Loads a class as if it had been compiled without {@code -parameters}. */
public final class WithoutParameterNames extends ClassLoader {

    private WithoutParameterNames(ClassLoader parent) {
        super(parent);
    }

    public static Class<?> of(Class<?> type) {
        try (InputStream original =
                type.getResourceAsStream("/" + type.getName().replace('.', '/') + ".class")) {
            ClassWriter writer = new ClassWriter(0);
            new ClassReader(original).accept(new Stripping(writer), 0);
            byte[] stripped = writer.toByteArray();
            return new WithoutParameterNames(type.getClassLoader())
                    .defineClass(type.getName(), stripped, 0, stripped.length);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static final class Stripping extends ClassVisitor {

        Stripping(ClassVisitor next) {
            super(SpringAsmInfo.ASM_VERSION, next);
        }

        /** The outer class is another loader's. */
        @Override
        public void visitInnerClass(String name, String outer, String inner, int access) {}

        @Override
        public void visitNestHost(String host) {}

        @Override
        public MethodVisitor visitMethod(
                int access, String name, String descriptor, String signature, String[] exceptions) {
            return new MethodVisitor(api, super.visitMethod(access, name, descriptor, signature, exceptions)) {
                @Override
                public void visitParameter(String parameter, int modifiers) {}
            };
        }
    }
}
