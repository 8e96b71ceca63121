package io.github.virtualthread.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * What applications compile against does not change unannounced. Who changes it on purpose runs this test with
 * {@code -Dpublic-api.write=true}, which writes the file anew, and says in the changelog what a user notices.
 */
class PublicApiTests {

    private static final Path FILE = Path.of("src/test/resources/public-api.txt");
    private static final Path CLASSES = Path.of("target/classes");

    @Test
    void isTheOneThatIsWrittenDown() throws IOException {
        List<String> api = api();
        if (Boolean.getBoolean("public-api.write")) {
            Files.write(FILE, api);
        }

        assertThat(api)
                .as("the public API; to change it on purpose: mvn test -Dtest=PublicApiTests -Dpublic-api.write=true")
                .containsExactlyElementsOf(Files.readAllLines(FILE));
    }

    @Test
    void seesTypesMembersAndSignatures() {
        assertThat(lines(Example.class))
                .containsExactly(
                        "public abstract static class io.github.virtualthread.architecture.PublicApiTests$Example"
                                + " extends java.lang.Object implements java.util.function.Supplier<java.lang.String>",
                        "    protected io.github.virtualthread.architecture.PublicApiTests$Example(int)",
                        "    public static final int LIMIT",
                        "    public abstract java.util.List<java.lang.String> names(java.lang.String[]) throws"
                                + " java.io.IOException");
    }

    private static List<String> api() throws IOException {
        try (Stream<Path> files = Files.walk(CLASSES)) {
            return files.map(CLASSES::relativize)
                    .map(Path::toString)
                    .filter(name -> name.endsWith(".class") && !name.endsWith("-info.class"))
                    .map(name ->
                            name.substring(0, name.length() - ".class".length()).replace(File.separatorChar, '.'))
                    .sorted()
                    .map(PublicApiTests::load)
                    .filter(PublicApiTests::isVisible)
                    .flatMap(type -> lines(type).stream())
                    .toList();
        }
    }

    private static Class<?> load(String name) {
        try {
            return Class.forName(name, false, PublicApiTests.class.getClassLoader());
        } catch (ClassNotFoundException | LinkageError absent) {
            // of a Spring Boot line that is not on the class path: nobody compiles against that
            return Object.class;
        }
    }

    private static boolean isVisible(Class<?> type) {
        Class<?> outer = type.getDeclaringClass();
        return type != Object.class && isVisible(type.getModifiers()) && (outer == null || isVisible(outer));
    }

    private static boolean isVisible(int modifiers) {
        return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
    }

    private static List<String> lines(Class<?> type) {
        List<String> lines = new ArrayList<>();
        String parents = type.getGenericSuperclass() == null ? "" : " extends " + name(type.getGenericSuperclass());
        String interfaces =
                type.getGenericInterfaces().length == 0 ? "" : " implements " + names(type.getGenericInterfaces());
        lines.add(Modifier.toString(type.getModifiers() & ~Modifier.INTERFACE).replace("  ", " ")
                + (type.isAnnotation() ? " @interface " : type.isInterface() ? " interface " : " class ")
                + type.getName()
                + parents
                + interfaces);
        lines.addAll(members(type.getDeclaredConstructors()));
        lines.addAll(members(type.getDeclaredFields()));
        lines.addAll(members(type.getDeclaredMethods()));
        return lines;
    }

    private static List<String> members(Member[] members) {
        return Arrays.stream(members)
                .filter(member -> isVisible(member.getModifiers()) && !member.isSynthetic())
                .map(member -> "    " + line(member))
                .sorted()
                .toList();
    }

    private static String line(Member member) {
        String modifiers = Modifier.toString(member.getModifiers()
                & (Modifier.PUBLIC | Modifier.PROTECTED | Modifier.STATIC | Modifier.FINAL | Modifier.ABSTRACT));
        return switch (member) {
            case Field field -> modifiers + " " + name(field.getGenericType()) + " " + field.getName();
            case Constructor<?> constructor -> modifiers + " " + constructor.getName() + signature(constructor);
            case Method method ->
                modifiers + (method.isDefault() ? " default " : " ") + name(method.getGenericReturnType()) + " "
                        + method.getName() + signature(method);
            default -> throw new IllegalStateException("unknown kind of member: " + member);
        };
    }

    private static String signature(Executable executable) {
        String parameters = Arrays.stream(executable.getParameters())
                .map(Parameter::getParameterizedType)
                .map(PublicApiTests::name)
                .collect(Collectors.joining(", ", "(", ")"));
        Type[] thrown = executable.getGenericExceptionTypes();
        return parameters + (thrown.length == 0 ? "" : " throws " + names(thrown));
    }

    private static String names(Type[] types) {
        return Arrays.stream(types).map(PublicApiTests::name).collect(Collectors.joining(", "));
    }

    private static String name(Type type) {
        return type.getTypeName();
    }

    /** Has one of each. */
    public abstract static class Example implements Supplier<String> {

        public static final int LIMIT = 1;
        static final int HIDDEN = 2;

        protected Example(int number) {}

        public abstract List<String> names(String[] of) throws IOException;

        abstract void hidden();
    }
}
