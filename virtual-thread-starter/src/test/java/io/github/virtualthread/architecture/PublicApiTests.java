package io.github.virtualthread.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.test.LimitAssert;
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
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * What is public and has no mark {@code @Internal} does not change unannounced. To change it on purpose, run this test with
 * {@code -Dpublic-api.write=true}, which writes the file anew, and add to the changelog what a user notices.
 */
class PublicApiTests {

    private static final Path FILE = Path.of("src/test/resources/public-api.txt");
    private static final Path PAGE = Path.of("../docs/compatibility.md");
    private static final Pattern OURS = Pattern.compile("io\\.github\\.virtualthread\\.[a-z.]*[A-Z][\\w$]*");
    private static final Pattern ROW = Pattern.compile("^\\| `(io\\.github\\.virtualthread[a-z.]*)` \\| (`.+`) \\|$");
    private static final Pattern MADE = Pattern.compile("Applications\\smake ([^:]+):");
    private static final Pattern NAME = Pattern.compile("`(\\w+)`");
    private static final Promise PROMISE = new Promise(new ClassFileImporter()
            .withImportOption(location -> !location.contains("Tests"))
            .importUrls(List.of(
                    VirtualThread.class.getProtectionDomain().getCodeSource().getLocation(),
                    LimitAssert.class.getResource("."))));
    private static final String FIXTURE = "io.github.virtualthread.architecture.fixture.promise.";
    private static final Promise EXAMPLE =
            new Promise(new ClassFileImporter().importUrl(PublicApiTests.class.getResource("fixture/promise")));

    @Test
    void isTheOneThatIsWrittenDown() throws IOException {
        List<String> api = lines(PROMISE);
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

    @Test
    void thePageListsTheSameTypes() throws IOException {
        assertThat(onThePage())
                .as("a public type is on the page, or has @Internal if it is nobody's API")
                .isEqualTo(names(PROMISE.topLevelTypes()));
    }

    @Test
    void theMarkIsSeenWhereJapicmpLooksForIt() {
        assertThat(names(PROMISE.compared().toList())).isEqualTo(names(PROMISE.types()));
        assertThat(names(EXAMPLE.compared().toList()))
                .containsExactly(FIXTURE + "Marked$Nested$Deeper", FIXTURE + "Promised", FIXTURE + "Promised$Nested");
    }

    /** Otherwise what has no mark would look as if it were promised. */
    @Test
    void onlyWhatOthersSeeIsMarked() {
        assertThat(PROMISE.markedInVain()).isEmpty();
        assertThat(EXAMPLE.markedInVain()).containsExactlyInAnyOrder(FIXTURE + "Hidden", FIXTURE + "Hidden.marked()");
    }

    /** A member that needs another type of this jar could not be used. */
    @Test
    void itsSignaturesNeedNoOtherTypesOfThisJar() {
        Set<String> types = names(PROMISE.types());

        assertThat(lines(PROMISE).stream()
                        .flatMap(line -> OURS.matcher(line).results().map(MatchResult::group)))
                .isNotEmpty()
                .isSubsetOf(types);
    }

    /** All others may gain components. */
    @Test
    void thePageNamesTheRecordsThatApplicationsMake() throws IOException {
        Matcher sentence = MADE.matcher(Files.readString(PAGE));

        assertThat(sentence.find()).isTrue();
        assertThat(NAME.matcher(sentence.group(1)).results().map(name -> name.group(1)))
                .containsExactlyElementsOf(PROMISE.recordsWithConstructor().stream()
                        .map(JavaClass::getSimpleName)
                        .sorted()
                        .toList());
    }

    @Test
    void seesTypesMembersAndSignatures() {
        assertThat(lines(EXAMPLE))
                .containsExactly(
                        "public abstract class " + FIXTURE + "Promised"
                                + " extends java.lang.Object implements java.util.function.Supplier<java.lang.String>",
                        "    protected " + FIXTURE + "Promised(int)",
                        "    public static final int LIMIT",
                        "    public abstract java.util.List<java.lang.String> names(java.lang.String[]) throws"
                                + " java.io.IOException",
                        "public static class " + FIXTURE + "Promised$Nested extends java.lang.Object",
                        "    public " + FIXTURE + "Promised$Nested()");
    }

    private static List<String> lines(Promise promise) {
        Set<String> promised = names(promise.types());
        return promise.types().stream()
                .flatMap(type -> lines(type.reflect(), promised, Promise.markedMembers(type)).stream())
                .toList();
    }

    private static Set<String> names(List<JavaClass> types) {
        return types.stream().map(JavaClass::getName).collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> onThePage() throws IOException {
        return Files.readAllLines(PAGE).stream()
                .map(ROW::matcher)
                .filter(Matcher::find)
                .flatMap(row -> NAME.matcher(row.group(2)).results().map(type -> row.group(1) + "." + type.group(1)))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static boolean isVisible(int modifiers) {
        return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
    }

    private static List<String> lines(Class<?> type, Set<String> promised, Set<Member> marked) {
        List<String> lines = new ArrayList<>();
        String parents = type.getGenericSuperclass() == null ? "" : " extends " + name(type.getGenericSuperclass());
        Type[] shown = Arrays.stream(type.getGenericInterfaces())
                .filter(parent -> !OURS.matcher(name(parent)).matches() || promised.contains(name(parent)))
                .toArray(Type[]::new);
        String interfaces = shown.length == 0 ? "" : " implements " + names(shown);
        lines.add(Modifier.toString(type.getModifiers() & ~Modifier.INTERFACE).replace("  ", " ")
                + (type.isAnnotation() ? " @interface " : type.isInterface() ? " interface " : " class ")
                + type.getName()
                + parents
                + interfaces);
        lines.addAll(members(type.getDeclaredConstructors(), marked));
        lines.addAll(members(type.getDeclaredFields(), marked));
        lines.addAll(members(type.getDeclaredMethods(), marked));
        return lines;
    }

    private static List<String> members(Member[] members, Set<Member> marked) {
        return Arrays.stream(members)
                .filter(member -> isVisible(member.getModifiers()) && !member.isSynthetic())
                .filter(member -> !marked.contains(member))
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
}
