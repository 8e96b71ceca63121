package io.github.virtualthread.architecture;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The types that docs/compatibility.md lists do not change unannounced. To change them on purpose, run this test with
 * {@code -Dpublic-api.write=true}, which writes the file anew, and add to the changelog what a user notices.
 */
class PublicApiTests {

    private static final Path FILE = Path.of("src/test/resources/public-api.txt");
    private static final Path TEST_KIT = Path.of("test-kit/src/main/java/io/github/virtualthread/test");
    private static final Path PAGE = Path.of("../docs/compatibility.md");
    private static final Pattern IN_JAVADOC = Pattern.compile("<sourceFileInclude>([\\w/]+)\\.java<");
    private static final Pattern COMPARED = Pattern.compile("<include>(io\\.github\\.virtualthread\\.[\\w.]+)<");
    private static final Pattern CONSTRUCTOR = Pattern.compile("^    (public|protected) [\\w.$]+\\(");
    private static final Pattern OURS = Pattern.compile("io\\.github\\.virtualthread\\.[a-z.]*[A-Z]\\w*");
    private static final Pattern ROW = Pattern.compile("^\\| `(io\\.github\\.virtualthread[a-z.]*)` \\| (`.+`) \\|$");
    private static final Pattern NAME = Pattern.compile("`(\\w+)`");

    @Test
    void isTheOneThatIsWrittenDown() throws IOException {
        List<String> api = api();
        if (Boolean.getBoolean("public-api.write")) {
            Files.write(FILE, api);
        }

        List<String> written = Files.readAllLines(FILE);
        String how = "to change the public API on purpose: mvn test -Dtest=PublicApiTests -Dpublic-api.write=true";
        assertThat(written)
                .as("lines of %s that are wrong; %s", FILE, how)
                .filteredOn(line -> !api.contains(line))
                .isEmpty();
        assertThat(api)
                .as("lines that %s needs; %s", FILE, how)
                .filteredOn(line -> !written.contains(line))
                .isEmpty();
        assertThat(api).as(how).containsExactlyElementsOf(written);
    }

    /** All of them are public, in its Javadoc, and compared with the last release. */
    @Test
    void hasTheTypesOfTheTestKit() throws IOException {
        try (Stream<Path> sources = Files.list(TEST_KIT)) {
            assertThat(sources.map(source -> source.getFileName().toString())
                            .filter(name -> !name.equals("package-info.java"))
                            .map(name -> "io.github.virtualthread.test." + name.replace(".java", "")))
                    .containsExactlyInAnyOrderElementsOf(types().stream()
                            .filter(PublicApiTests::isOfTheTestKit)
                            .toList());
        }
    }

    private static boolean isOfTheTestKit(String type) {
        return type.startsWith("io.github.virtualthread.test.");
    }

    @Test
    void javadocShowsTheSameTypes() throws IOException {
        assertThat(inThePom(IN_JAVADOC)).isEqualTo(typesOfTheStarter());
    }

    @Test
    void theSameTypesAreComparedWithTheLastRelease() throws IOException {
        assertThat(inThePom(COMPARED)).isEqualTo(typesOfTheStarter());
    }

    /** A member that needs another type of this jar could not be used. Who injects a bean does not construct it. */
    @Test
    void itsSignaturesNeedNoOtherTypesOfThisJar() throws IOException {
        Set<String> types = types();

        assertThat(api())
                .filteredOn(line -> !CONSTRUCTOR.matcher(line).find())
                .isNotEmpty()
                .allSatisfy(line -> assertThat(OURS.matcher(line).results().map(MatchResult::group))
                        .isSubsetOf(types));
    }

    @Test
    void seesTypesMembersAndSignatures() {
        assertThat(lines(Example.class, Set.of()))
                .containsExactly(
                        "public abstract static class io.github.virtualthread.architecture.PublicApiTests$Example"
                                + " extends java.lang.Object implements java.util.function.Supplier<java.lang.String>",
                        "    protected io.github.virtualthread.architecture.PublicApiTests$Example(int)",
                        "    public static final int LIMIT",
                        "    public abstract java.util.List<java.lang.String> names(java.lang.String[]) throws"
                                + " java.io.IOException");
    }

    private static List<String> api() throws IOException {
        Set<String> listed = types();
        return listed.stream()
                .map(PublicApiTests::load)
                .flatMap(PublicApiTests::withNested)
                .flatMap(type -> lines(type, listed).stream())
                .toList();
    }

    private static Set<String> inThePom(Pattern include) throws IOException {
        return include.matcher(Files.readString(Path.of("pom.xml")))
                .results()
                .map(found -> found.group(1).replace('/', '.'))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> typesOfTheStarter() throws IOException {
        return types().stream().filter(type -> !isOfTheTestKit(type)).collect(Collectors.toCollection(TreeSet::new));
    }

    /** Sorted, as the page has them. */
    private static Set<String> types() throws IOException {
        return Files.readAllLines(PAGE).stream()
                .map(ROW::matcher)
                .filter(Matcher::find)
                .flatMap(row -> NAME.matcher(row.group(2)).results().map(type -> row.group(1) + "." + type.group(1)))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Stream<Class<?>> withNested(Class<?> type) {
        return Stream.concat(
                Stream.of(type),
                Arrays.stream(type.getDeclaredClasses())
                        .filter(nested -> isVisible(nested.getModifiers()))
                        .sorted(Comparator.comparing(Class::getName))
                        .flatMap(PublicApiTests::withNested));
    }

    private static Class<?> load(String name) {
        try {
            return Class.forName(name, false, PublicApiTests.class.getClassLoader());
        } catch (ClassNotFoundException absent) {
            throw new IllegalStateException("docs/compatibility.md names a type that does not exist", absent);
        }
    }

    private static boolean isVisible(int modifiers) {
        return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
    }

    /** Without what it has from a type of this jar alone. */
    private static List<String> lines(Class<?> type, Set<String> listed) {
        List<Class<?>> hidden = Arrays.stream(type.getInterfaces())
                .filter(parent -> OURS.matcher(parent.getName()).matches() && !listed.contains(parent.getName()))
                .toList();
        List<String> lines = new ArrayList<>();
        String parents = type.getGenericSuperclass() == null ? "" : " extends " + name(type.getGenericSuperclass());
        Type[] shown = Arrays.stream(type.getGenericInterfaces())
                .filter(parent -> !hidden.contains(parent))
                .toArray(Type[]::new);
        String interfaces = shown.length == 0 ? "" : " implements " + names(shown);
        lines.add(Modifier.toString(type.getModifiers() & ~Modifier.INTERFACE).replace("  ", " ")
                + (type.isAnnotation() ? " @interface " : type.isInterface() ? " interface " : " class ")
                + type.getName()
                + parents
                + interfaces);
        lines.addAll(members(type.getDeclaredConstructors()));
        lines.addAll(members(type.getDeclaredFields()));
        lines.addAll(members(Arrays.stream(type.getDeclaredMethods())
                .filter(method -> hidden.stream().noneMatch(parent -> has(parent, method)))
                .toArray(Method[]::new)));
        return lines;
    }

    private static boolean has(Class<?> parent, Method method) {
        return Arrays.stream(parent.getMethods())
                .anyMatch(each -> each.getName().equals(method.getName())
                        && Arrays.equals(each.getParameterTypes(), method.getParameterTypes()));
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
