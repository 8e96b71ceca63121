package io.github.virtualthread.bytecode;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.bytecode.SelfCalls.SelfCall;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.springframework.util.ClassUtils;

/** What is found in the nested classes of a test, and what is marked in its source. */
final class FoundSelfCalls {

    private static final Path SOURCES = Path.of("src/test/java/io/github/virtualthread/bytecode");

    private FoundSelfCalls() {}

    static void assertOnlyMarkedCallsAreFound(Class<?> type) {
        assertOnlyMarkedCallsAreFound(type, type.getSimpleName());
    }

    static void assertOnlyMarkedCallsAreFound(Class<?> type, String... callers) {
        List<String> marked = Arrays.stream(callers)
                .map(caller -> marked(type.getEnclosingClass(), caller))
                .flatMap(Collection::stream)
                .toList();
        assertThat(marked).isNotEmpty();
        assertThat(in(type)).extracting(call -> call.place().toString()).containsExactlyInAnyOrderElementsOf(marked);
    }

    /** The places that are marked with a method of the class. */
    private static List<String> marked(Class<?> test, String type) {
        Path source = SOURCES.resolve(test.getSimpleName() + ".java");
        List<String> lines;
        try {
            lines = Files.readAllLines(source);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        String mark = "// " + type + ".";
        return IntStream.range(0, lines.size())
                .filter(i -> lines.get(i).contains(mark))
                .mapToObj(i -> new StackTraceElement(
                                test.getName() + "$" + type,
                                lines.get(i).substring(lines.get(i).indexOf(mark) + mark.length()),
                                source.getFileName().toString(),
                                i + 1)
                        .toString())
                .toList();
    }

    static Set<SelfCall> in(Class<?> type) {
        return in(new SelfCalls(), type);
    }

    static Set<SelfCall> in(SelfCalls calls, Class<?> type) {
        List<Class<?>> types = new ArrayList<>();
        for (Class<?> each = type; each != null && each != Object.class; each = each.getSuperclass()) {
            types.add(each);
        }
        ClassUtils.getAllInterfacesForClassAsSet(type).stream()
                .filter(each -> each != type)
                .forEach(types::add);
        return calls.find(types, annotated(types));
    }

    static List<Method> annotated(List<Class<?>> types) {
        return types.stream()
                .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
                .filter(method -> method.isAnnotationPresent(VirtualThread.class))
                .toList();
    }
}
