package io.github.virtualthread.architecture;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Types that all know each other, some by way of others: none of them can be understood without the rest. Found by Tarjan's
 * algorithm. A nested type is a part of the type around it.
 */
final class Knots {

    /** Sealed for the sake of users, who make none of their own: they know nothing of what they permit. */
    private static final Set<String> SEALED =
            Set.of("io.github.virtualthread.limit.TaskLimit", "io.github.virtualthread.execution.TaskSpec");

    private static final Pattern CONSTANT = Pattern.compile("\\b\\w+\\.[A-Z][A-Z_0-9]+\\b");

    private final Map<String, Set<String>> owners = new HashMap<>(); // of constants, which the compiler copies
    private final Map<String, Set<String>> graph = new TreeMap<>();
    private final Map<String, Integer> numbers = new HashMap<>(); // of those that were visited
    private final Map<String, Integer> lowest = new HashMap<>();
    private final Deque<String> open = new ArrayDeque<>();
    private final List<Set<String>> knots = new ArrayList<>();

    private Knots(JavaClasses classes) {
        for (JavaClass type : classes) {
            for (JavaField field : type.getFields()) {
                owners.computeIfAbsent(type.getSimpleName() + "." + field.getName(), name -> new TreeSet<>())
                        .add(outermost(type));
            }
        }
        for (JavaClass type : classes) {
            Set<String> known = graph.computeIfAbsent(outermost(type), name -> new TreeSet<>());
            if (!type.getEnclosingClass().isPresent()) {
                known.addAll(ownersOfConstants(type));
            }
            if (type.getModifiers().contains(JavaModifier.ABSTRACT)
                    && type.reflect().isSealed()
                    && !SEALED.contains(type.getName())) {
                Stream.of(type.reflect().getPermittedSubclasses())
                        .map(permitted -> outermost(classes.get(permitted)))
                        .forEach(known::add);
            }
            type.getDirectDependenciesFromSelf().stream()
                    .map(Dependency::getTargetClass)
                    .filter(target -> classes.contain(target.getName()))
                    .map(Knots::outermost)
                    .forEach(known::add);
        }
    }

    /** By the source, as a class file does not say where the value of a constant is from. */
    private Set<String> ownersOfConstants(JavaClass type) {
        String file = type.getName().replace('.', '/') + ".java";
        return Stream.of("src/main/java", "src/test/java")
                .map(folder -> Path.of(folder, file))
                .filter(Files::exists)
                .flatMap(source -> CONSTANT.matcher(withoutComments(source)).results())
                .flatMap(use -> owners.getOrDefault(use.group(), Set.of()).stream())
                .collect(Collectors.toSet());
    }

    private static String withoutComments(Path source) {
        try {
            return Files.readString(source).replaceAll("(?s)/\\*.*?\\*/|//[^\n]*", "");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String outermost(JavaClass type) {
        return type.getEnclosingClass().map(Knots::outermost).orElseGet(type::getName);
    }

    /** Those of two types or more, the largest first; each as the types with those of the knot that they know. */
    static List<Map<String, Set<String>>> of(JavaClasses classes) {
        Knots found = new Knots(classes);
        for (String type : found.graph.keySet()) {
            if (!found.numbers.containsKey(type)) {
                found.visit(type);
            }
        }
        return found.knots.stream()
                .filter(knot -> knot.size() > 1)
                .sorted(Comparator.comparing((Set<String> knot) -> knot.size()).reversed())
                .map(found::withEdges)
                .toList();
    }

    /** Those of more types than that, or more than another number if all types are of one package. */
    static List<Map<String, Set<String>>> largerThan(int most, String somewhere, int mostThere, JavaClasses classes) {
        return of(classes).stream()
                .filter(knot -> {
                    boolean isThere = knot.keySet().stream().allMatch(type -> type.startsWith(somewhere + "."));
                    return knot.size() > (isThere ? mostThere : most);
                })
                .toList();
    }

    private void visit(String type) {
        numbers.put(type, numbers.size());
        lowest.put(type, numbers.get(type));
        open.push(type);
        for (String known : graph.get(type)) {
            if (!numbers.containsKey(known)) {
                visit(known);
                lowest.merge(type, lowest.get(known), Math::min);
            } else if (open.contains(known)) {
                lowest.merge(type, numbers.get(known), Math::min);
            }
        }
        if (lowest.get(type).equals(numbers.get(type))) {
            Set<String> knot = new TreeSet<>();
            do {
                knot.add(open.peek());
            } while (!open.pop().equals(type));
            knots.add(knot);
        }
    }

    private Map<String, Set<String>> withEdges(Set<String> knot) {
        return knot.stream()
                .collect(Collectors.toMap(
                        type -> type,
                        type -> graph.get(type).stream()
                                .filter(known -> knot.contains(known) && !known.equals(type))
                                .collect(Collectors.toCollection(TreeSet::new)),
                        (one, other) -> one,
                        TreeMap::new));
    }
}
