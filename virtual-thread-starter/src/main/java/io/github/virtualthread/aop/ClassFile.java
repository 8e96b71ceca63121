package io.github.virtualthread.aop;

import java.io.IOException;
import java.io.InputStream;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.asm.ClassReader;
import org.springframework.util.ClassUtils;

/** The class file of a type, read once. Its code, which takes most of the time, is looked into where somebody asks. */
final class ClassFile {

    /** Tag in the constant pool of what every call refers to, and no declaration does. */
    private static final int NAME_AND_TYPE = 12;

    private final @Nullable ClassReader reader;
    private @Nullable ClassCode code;

    private ClassFile(@Nullable ClassReader reader) {
        this.reader = reader;
    }

    /** Reads the file of a type; a generated type may have none, which is like one without code. */
    static ClassFile of(Class<?> type) throws IOException {
        try (InputStream stream = type.getResourceAsStream(ClassUtils.getClassFileName(type))) {
            return new ClassFile(stream == null ? null : new ClassReader(stream));
        }
    }

    /** Whether one of the methods, written as in {@code send(J)V}, may be called. */
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

    ClassCode code() {
        ClassCode known = code;
        if (known == null) {
            known = new ClassCode();
            if (reader != null) {
                reader.accept(known, ClassReader.SKIP_FRAMES);
            }
            code = known;
        }
        return known;
    }
}
