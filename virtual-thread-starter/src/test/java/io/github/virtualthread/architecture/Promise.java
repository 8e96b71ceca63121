package io.github.virtualthread.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.properties.CanBeAnnotated;
import io.github.virtualthread.Internal;
import java.lang.reflect.Member;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What class files promise: what is public or protected, and neither has the mark {@link Internal} nor lies in a type that has it.
 * Reflection does not see the mark.
 */
record Promise(JavaClasses classes) {

    /** Sorted, without those that are nested in them. */
    List<JavaClass> topLevelTypes() {
        return compared().filter(JavaClass::isTopLevelClass).toList();
    }

    /** Sorted, each followed by those that are nested in it. */
    List<JavaClass> types() {
        return topLevelTypes().stream().flatMap(this::withNested).toList();
    }

    private Stream<JavaClass> withNested(JavaClass type) {
        return Stream.concat(
                Stream.of(type),
                compared()
                        .filter(each ->
                                each.getEnclosingClass().filter(type::equals).isPresent())
                        .flatMap(this::withNested));
    }

    /** As japicmp chooses them: it looks for the mark on a type and on the one around it, and no further. */
    Stream<JavaClass> compared() {
        return classes.stream()
                .filter(type -> isVisible(type.getModifiers()) && !isMarked(type))
                .filter(type ->
                        type.getEnclosingClass().filter(Promise::isMarked).isEmpty())
                .sorted(Comparator.comparing(JavaClass::getName));
    }

    /** Types and members that have the mark, and that nobody outside of their package could use without it. */
    List<String> markedInVain() {
        Stream<String> types = classes.stream()
                .filter(type -> isMarked(type) && !isVisible(type.getModifiers()))
                .map(JavaClass::getFullName);
        Stream<String> members = classes.stream()
                .flatMap(type -> type.getMembers().stream())
                .filter(member -> isMarked(member)
                        && !(isVisible(member.getModifiers())
                                && isVisible(member.getOwner().getModifiers())))
                .map(JavaMember::getFullName);
        return Stream.concat(types, members).toList();
    }

    List<JavaClass> recordsWithConstructor() {
        return types().stream()
                .filter(JavaClass::isRecord)
                .filter(type -> type.getConstructors().stream().anyMatch(each -> !isMarked(each)))
                .toList();
    }

    static Set<Member> markedMembers(JavaClass type) {
        return type.getMembers().stream()
                .filter(Promise::isMarked)
                .map(JavaMember::reflect)
                .collect(Collectors.toSet());
    }

    private static boolean isVisible(Set<JavaModifier> modifiers) {
        return modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED);
    }

    private static boolean isMarked(CanBeAnnotated element) {
        return element.isAnnotatedWith(Internal.class);
    }
}
