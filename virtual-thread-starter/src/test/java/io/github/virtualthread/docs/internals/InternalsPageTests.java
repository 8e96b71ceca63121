package io.github.virtualthread.docs.internals;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.github.virtualthread.config.StartupPart;
import io.github.virtualthread.docs.Pages;
import io.github.virtualthread.limit.TaskLimit;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The page on internals names classes as they are, and its picture has the calls that the classes make. */
class InternalsPageTests {

    private static final String PAGE = "docs/internals.md";
    private static final String ROOT = "io.github.virtualthread";
    private static final JavaClasses MAIN =
            new ClassFileImporter().importPath(Pages.ROOT.resolve("virtual-thread-starter/target/classes"));
    private static final JavaClass THREAD = new ClassFileImporter().importClass(Thread.class);

    private static final Pattern NODE = Pattern.compile("`(\\w+\\.\\w+)`");

    /** Types of others that the page names. */
    private static final Set<String> OTHERS = Set.of(
            "AbstractBeanFactoryAwareAdvisingPostProcessor",
            "ExecutorConfigurationSupport",
            "MethodInvocation",
            "Runnable",
            "Thread");

    static List<Arrow> arrows() {
        return Picture.of(PAGE).arrows();
    }

    @ParameterizedTest
    @MethodSource("arrows")
    void bothEndsOfAnArrowAreMethods(Arrow arrow) {
        assertThat(type(arrow.from()).getMethods()).extracting("name").contains(method(arrow.from()));
        assertThat(type(arrow.to()).getMethods()).extracting("name").contains(method(arrow.to()));
    }

    @ParameterizedTest
    @MethodSource("arrows")
    void whatIsDrawnAsACallIsOne(Arrow arrow) {
        if (arrow.isCall()) {
            assertThat(calls(arrow.from()))
                    .as("%s no longer calls %s: change the picture in %s", arrow.from(), arrow.to(), PAGE)
                    .anyMatch(isCallOf(arrow.to()));
        }
    }

    @Test
    void thePictureLeadsFromTheAdviceToTheStartOfTheThread() {
        List<Arrow> calls = arrows().stream().filter(Arrow::isCall).toList();
        Set<String> reached = new LinkedHashSet<>(Set.of("VirtualThreadInterceptor.invoke"));
        while (reached.addAll(calls.stream()
                .filter(arrow -> reached.contains(arrow.from()))
                .map(Arrow::to)
                .toList())) {}

        assertThat(reached).contains("Thread.start");
        assertThat(reached.stream().map(node -> node.split("\\.")[0]).collect(Collectors.toSet()))
                .as("files that a reader opens")
                .hasSizeLessThanOrEqualTo(8);
    }

    @ParameterizedTest
    @CsvSource({
        "WaitQueue.next, Thread.start",
        "VirtualThreadInterceptor.invoke, Admission.admit",
        "Task.granted, TaskEngine.submit"
    })
    void aCallThatIsNotMadeIsNoticed(String from, String to) {
        assertThat(calls(from)).noneMatch(isCallOf(to));
    }

    @Test
    void everyTypeThatThePageNamesIsThere() {
        Set<String> ours = MAIN.stream().map(JavaClass::getSimpleName).collect(Collectors.toSet());

        assertThat(Pattern.compile("`([A-Z][a-z]\\w*)[^`]*`")
                        .matcher(String.join("\n", Pages.prose(Pages.ROOT.resolve(PAGE))))
                        .results()
                        .map(name -> name.group(1)))
                .hasSizeGreaterThan(40)
                .allMatch(name -> ours.contains(name) || OTHERS.contains(name));
    }

    @Test
    void theRoomsAreThePackages() {
        Pages.assertRows(
                PAGE,
                Pattern.compile("^\\| `(\\.\\w+)` \\|"),
                row -> "| `%s` | ... |".formatted(row.group(1)),
                MAIN.getPackage(ROOT).getSubpackages().stream()
                        .map(each -> "| `%s` | ... |".formatted(each.getName().substring(ROOT.length())))
                        .toList());
    }

    static List<Arguments> checks() {
        return checkRows()
                .flatMap(row ->
                        NODE.matcher(row.group(2)).results().map(caller -> Arguments.of(caller.group(1), row.group(1))))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("checks")
    void aCheckIsCalledByThoseThatThePageNames(String caller, String check) {
        assertThat(calls(caller).stream().filter(isCallOf(check)))
                .as("%s does not call %s: change the table in %s", caller, check, PAGE)
                .isNotEmpty();
    }

    @Test
    void thePageNamesEveryCheck() {
        Stream<String> checks = MAIN.stream()
                .filter(type -> type.getSimpleName().matches("\\w+Checks?|EngineStart")
                        || (type.isAssignableTo(StartupPart.class) && !type.isInterface()))
                .map(JavaClass::getSimpleName);

        assertThat(checkRows().map(row -> row.group(1).split("\\.")[0]))
                .containsExactlyInAnyOrderElementsOf(checks.toList());
        assertThat(checkRows().map(row -> row.group(1)))
                .allSatisfy(check ->
                        assertThat(type(check).getMethods()).extracting("name").contains(method(check)));
    }

    private static Stream<MatchResult> checkRows() {
        return Pages.lines(Pages.ROOT.resolve(PAGE)).stream()
                .dropWhile(line -> !line.startsWith("| check | who calls it |"))
                .takeWhile(line -> line.startsWith("|"))
                .flatMap(line -> Pattern.compile("^\\| `([\\w.]+)` \\| ([^|]+) \\|")
                        .matcher(line)
                        .results());
    }

    /** Only what is a state of one of them is a constant of type byte. */
    @ParameterizedTest
    @CsvSource({"PermitRequest, phase", "InterruptibleCall, window", "Lease, lending"})
    void theStatesAreTheConstants(String type, String head) throws ClassNotFoundException {
        Class<?> states = Class.forName(type(type + ".x").getName());
        Stream<String> constants = type.equals("Lease")
                ? Stream.of(TaskLimit.ClusterState.Lending.values()).map(Enum::name)
                : Stream.of(states.getDeclaredFields())
                        .filter(field -> Modifier.isStatic(field.getModifiers()) && field.getType() == byte.class)
                        .map(Field::getName);

        assertThat(Pages.lines(Pages.ROOT.resolve(PAGE)).stream()
                        .dropWhile(line -> !line.startsWith("| " + head + " | what"))
                        .takeWhile(line -> line.startsWith("|"))
                        .map(Pattern.compile("\\| `(\\w+)` \\|.*")::matcher)
                        .filter(Matcher::matches)
                        .map(row -> row.group(1)))
                .containsExactlyInAnyOrderElementsOf(constants.toList());
    }

    /** Every call that a method makes, itself or by other methods of its class. */
    private static Set<JavaCall<?>> calls(String node) {
        JavaClass type = type(node);
        Set<JavaCall<?>> calls = new LinkedHashSet<>();
        Set<JavaCodeUnit> seen = new LinkedHashSet<>();
        Deque<JavaCodeUnit> open = new ArrayDeque<>(named(type, method(node)));
        while (!open.isEmpty()) {
            JavaCodeUnit next = open.pop();
            if (seen.add(next)) {
                calls.addAll(next.getCallsFromSelf());
                next.getCallsFromSelf().stream()
                        .filter(call -> call.getTargetOwner().equals(type))
                        .forEach(
                                call -> open.addAll(named(type, call.getTarget().getName())));
            }
        }
        return calls;
    }

    private static List<JavaCodeUnit> named(JavaClass type, String name) {
        return type.getCodeUnits().stream()
                .filter(unit -> unit.getName().equals(name))
                .toList();
    }

    /** Also a call by way of a type above, whose method is overridden, or of one below, which inherits it. */
    private static Predicate<JavaCall<?>> isCallOf(String node) {
        JavaClass type = type(node);
        return call -> call.getTarget().getName().equals(method(node))
                && (type.isAssignableTo(call.getTargetOwner().getName())
                        || call.getTargetOwner().isAssignableTo(type.getName()));
    }

    private static JavaClass type(String node) {
        String name = node.substring(0, node.lastIndexOf('.'));
        if (name.equals("Thread")) {
            return THREAD;
        }
        List<JavaClass> found = MAIN.stream()
                .filter(type -> type.getName().endsWith("." + name.replace('.', '$')))
                .toList();
        assertThat(found).as("types with the name %s in %s", name, PAGE).hasSize(1);
        return found.getFirst();
    }

    private static String method(String node) {
        return node.substring(node.lastIndexOf('.') + 1);
    }

    /** An arrow between two nodes named {@code Type.method}; a dotted one is no call. */
    record Arrow(String from, String to, boolean isCall) {}

    /** A flowchart in Mermaid, of which every line has to be understood. */
    record Picture(List<Arrow> arrows) {

        private static final String NODE = "(\\w+)(?:\\[\"([\\w.]+)\"])?";
        private static final Pattern ARROW = Pattern.compile(NODE + " (-->|-\\.->)(?:\\|[\\w' ]+\\|)? " + NODE);

        static Picture of(String page) {
            List<String> lines = Pages.blocks("mermaid")
                    .filter(block -> block.where().startsWith(page + ":"))
                    .map(Pages.Block::text)
                    .filter(text -> text.startsWith("flowchart"))
                    .flatMap(text -> text.lines().skip(1))
                    .map(String::strip)
                    .toList();
            assertThat(lines).isNotEmpty().allMatch(line -> ARROW.matcher(line).matches());
            List<MatchResult> arrows = lines.stream()
                    .flatMap(line -> ARROW.matcher(line).results())
                    .toList();
            Map<String, String> nodes = new HashMap<>();
            arrows.forEach(arrow -> {
                putIfNamed(nodes, arrow.group(1), arrow.group(2));
                putIfNamed(nodes, arrow.group(4), arrow.group(5));
            });
            return new Picture(arrows.stream()
                    .map(arrow -> new Arrow(
                            nodes.get(arrow.group(1)),
                            nodes.get(arrow.group(4)),
                            arrow.group(3).equals("-->")))
                    .toList());
        }

        private static void putIfNamed(Map<String, String> nodes, String id, String name) {
            if (name != null) {
                nodes.put(id, name);
            }
        }
    }
}
