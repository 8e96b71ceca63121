package io.github.virtualthread.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.codeUnits;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.CompositeArchRule;
import java.util.List;

/** The rules of the packages below a root, so that they can be shown to fail on packages that break them. */
record PackageRules(String root) {

    /** Each knows only those before it. */
    static final List<String> ORDER = List.of(
            "mistake",
            "bytecode",
            "timer",
            "limit",
            "cluster",
            "context",
            "execution",
            "aop",
            "aspectj",
            "jdbc",
            "pool",
            "config",
            "observation",
            "web",
            "actuate",
            "autoconfigure");

    private static final List<String> ENGINE = List.of("timer", "limit", "context", "execution");

    ArchRule eachKnowsOnlyThoseAbove() {
        CompositeArchRule rule = CompositeArchRule.of(leafKnowsNone());
        for (int i = 0; i < ORDER.size() - 1; i++) {
            rule = rule.and(noClasses()
                    .that()
                    .resideInAPackage(in(ORDER.get(i)))
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(in(ORDER.subList(i + 1, ORDER.size())))
                    .allowEmptyShould(true));
        }
        return rule;
    }

    private ArchRule leafKnowsNone() {
        return noClasses()
                .that()
                .resideInAPackage(root)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(in(ORDER))
                .allowEmptyShould(true);
    }

    ArchRule noCycles() {
        return slices().matching(root + ".(**)").should().beFreeOfCycles().allowEmptyShould(true);
    }

    ArchRule theEngineKnowsNoAop() {
        return noClasses()
                .that()
                .resideInAnyPackage(in(ENGINE))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.springframework.aop..", "org.aopalliance..", "org.aspectj..")
                .allowEmptyShould(true);
    }

    /** It is optional: its types are loaded together with the aspect, and with nothing else. */
    ArchRule onlyTheAspectKnowsAspectJ() {
        return noClasses()
                .that()
                .resideInAPackage(root + "..")
                .and()
                .resideOutsideOfPackage(in("aspectj"))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.aspectj..", in("aspectj"))
                .allowEmptyShould(true);
    }

    ArchRule onlyTwoKnowSpringBoot() {
        return noClasses()
                .that()
                .resideInAnyPackage(in(ORDER.stream()
                        .filter(name -> !name.equals("actuate") && !name.equals("autoconfigure"))
                        .toList()))
                .or()
                .resideInAPackage(root)
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.springframework.boot..")
                .allowEmptyShould(true);
    }

    /** The limits need the JDK, a timer and one exception of Spring's. */
    ArchRule limitsNeedLittle() {
        return noClasses()
                .that()
                .resideInAPackage(in("limit"))
                .should()
                .dependOnClassesThat()
                .resideOutsideOfPackages(
                        "java..", "org.jspecify..", "org.springframework.core.task", root, in("timer"), in("limit"))
                .allowEmptyShould(true);
    }

    /** What lends permits is below: only {@code autoconfigure} knows all of it. */
    ArchRule sharesNeedLittle() {
        return noClasses()
                .that()
                .resideInAPackage(root + ".cluster")
                .should()
                .dependOnClassesThat()
                .resideOutsideOfPackages(
                        "java..", "org.jspecify..", "org.slf4j..", root, in("timer"), in("limit"), root + ".cluster")
                .allowEmptyShould(true);
    }

    /** It is optional: its types are loaded together with the engine, and with nothing else. */
    ArchRule onlyTheEngineKnowsRedis() {
        return noClasses()
                .that()
                .resideInAPackage(root + "..")
                .and()
                .resideOutsideOfPackages(in("cluster.redis"), in("autoconfigure"))
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.springframework.data..")
                .allowEmptyShould(true);
    }

    /** It serves any test of any application. */
    ArchRule theTestKitNeedsLittle() {
        return noClasses()
                .that()
                .resideInAPackage(in("test"))
                .should()
                .dependOnClassesThat()
                .resideOutsideOfPackages(
                        "java..",
                        "org.jspecify..",
                        "org.assertj..",
                        "org.junit.jupiter..",
                        in("limit"),
                        root + ".cluster",
                        in("test"))
                .allowEmptyShould(true);
    }

    /** It knows class files, and nothing of what their classes are for. */
    ArchRule byteCodeNeedsLittle() {
        return noClasses()
                .that()
                .resideInAPackage(in("bytecode"))
                .should()
                .dependOnClassesThat()
                .resideOutsideOfPackages("java..", "org.jspecify..", "org.springframework.asm", root, in("bytecode"))
                .allowEmptyShould(true);
    }

    /** Below JDK 24 a thread that blocks in a synchronized method pins its carrier. */
    ArchRule nothingIsSynchronized() {
        return noMethods()
                .that()
                .areDeclaredInClassesThat()
                .resideInAPackage(root + "..")
                .should()
                .haveModifier(JavaModifier.SYNCHRONIZED)
                .allowEmptyShould(true);
    }

    ArchRule noTypeHasMoreCodeLinesThan(int most) {
        return eachSource(new CodeLines(most));
    }

    ArchRule eachTernaryFitsOnOneLine() {
        return eachSource(new ShortTernaries());
    }

    private ArchRule eachSource(ArchCondition<JavaClass> condition) {
        return classes()
                .that()
                .resideInAPackage(root + "..")
                .and()
                .areTopLevelClasses()
                .and()
                .doNotHaveSimpleName("package-info")
                .should(condition)
                .allowEmptyShould(true);
    }

    ArchRule nothingHasMoreParametersThan(int most) {
        return codeUnits()
                .that()
                .areDeclaredInClassesThat()
                .resideInAPackage(root + "..")
                .should(new FewParameters(most))
                .allowEmptyShould(true);
    }

    private String in(String name) {
        return root + "." + name + "..";
    }

    private String[] in(List<String> names) {
        return names.stream().map(this::in).toArray(String[]::new);
    }
}
