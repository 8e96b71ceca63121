package io.github.virtualthread.architecture;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.test.LimitAssert;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class PackageRulesTests {

    private static final String ROOT = "io.github.virtualthread";
    private static final String FIXTURES = ROOT + ".architecture.fixture.";
    private static final JavaClasses MAIN = new ClassFileImporter()
            .importUrl(VirtualThread.class.getProtectionDomain().getCodeSource().getLocation());
    private static final JavaClasses TEST_KIT = new ClassFileImporter()
            .withImportOption(location -> !location.contains("Tests"))
            .importUrl(LimitAssert.class.getResource("."));
    private static final JavaClasses BROKEN =
            new ClassFileImporter().importUrl(PackageRulesTests.class.getResource("fixture"));

    static Stream<Arguments> rules() {
        return Stream.concat(rulesOfTheStarter(), Stream.of(rule("kit", PackageRules::theTestKitNeedsLittle)));
    }

    static Stream<Arguments> rulesOfTheStarter() {
        return Stream.of(
                rule("below", PackageRules::eachKnowsOnlyThoseAbove),
                rule("cycle", PackageRules::noCycles),
                rule("springaop", PackageRules::theEngineKnowsNoAop),
                rule("aspects", PackageRules::onlyTheAspectKnowsAspectJ),
                rule("springboot", PackageRules::onlyTwoKnowSpringBoot),
                rule("springboot", PackageRules::limitsNeedLittle),
                rule("lending", PackageRules::sharesNeedLittle),
                rule("lending", PackageRules::onlyTheEngineKnowsRedis),
                rule("groundfloor", PackageRules::byteCodeNeedsLittle),
                rule("locked", PackageRules::nothingIsSynchronized));
    }

    private static Arguments rule(String fixture, Function<PackageRules, ArchRule> rule) {
        return Arguments.of(fixture, rule);
    }

    @Test
    void theTestKitKeepsItsRule() {
        new PackageRules(ROOT).theTestKitNeedsLittle().allowEmptyShould(false).check(TEST_KIT);
    }

    @ParameterizedTest
    @MethodSource("rulesOfTheStarter")
    void thePackagesKeepTheRule(String fixture, Function<PackageRules, ArchRule> rule) {
        rule.apply(new PackageRules(ROOT)).check(MAIN);
    }

    @ParameterizedTest
    @MethodSource("rules")
    void theRuleFailsOnPackagesThatBreakIt(String fixture, Function<PackageRules, ArchRule> rule) {
        JavaClasses broken = BROKEN.that(resideInAPackage(FIXTURES + fixture + ".."));

        assertThat(rule.apply(new PackageRules(FIXTURES + fixture))
                        .evaluate(broken)
                        .hasViolation())
                .isTrue();
    }

    @Test
    void noMoreThanSixTypesKnowEachOther() {
        assertThat(Knots.largerThan(6, ROOT + ".execution", 10, MAIN)).isEmpty();
    }

    @Test
    void aKnotOfOnePackageMayBeLarger() {
        JavaClasses tied = new ClassFileImporter().importPackages(FIXTURES + "knot");

        assertThat(Knots.largerThan(2, FIXTURES + "other", 3, tied)).hasSize(1);
        assertThat(Knots.largerThan(2, FIXTURES + "knot", 3, tied)).isEmpty();
        assertThat(Knots.largerThan(2, FIXTURES + "knot", 2, tied)).hasSize(1);
    }

    /** A call that asks, its key, the keys' turns, and the gate it asks at. */
    @Test
    void noMoreThanFourTypesOfTheLimitsKnowEachOther() {
        assertThat(Knots.of(MAIN))
                .filteredOn(knot -> knot.keySet().stream().allMatch(type -> type.startsWith(ROOT + ".limit.")))
                .isNotEmpty()
                .allSatisfy(knot -> assertThat(knot).hasSizeLessThanOrEqualTo(4));
    }

    @Test
    void aKnotIsFoundAcrossNestedTypes() {
        JavaClasses tied = new ClassFileImporter().importPackages(FIXTURES + "cycle");

        assertThat(Knots.of(tied)).singleElement().satisfies(knot -> assertThat(knot.keySet())
                .containsExactly(FIXTURES + "cycle.context.First", FIXTURES + "cycle.execution.Second"));
    }

    @Test
    void aKnotIsFoundAcrossConstantsAndSealedTypes() {
        JavaClasses tied = new ClassFileImporter().importPackages(FIXTURES + "knot");

        assertThat(Knots.of(tied)).singleElement().satisfies(knot -> assertThat(knot)
                .hasSize(3));
    }

    @Test
    void noTypeHasMoreThan350CodeLines() {
        new PackageRules(ROOT).noTypeHasMoreCodeLinesThan(350).check(MAIN);
    }

    @Test
    void aTypeIsAsLongAsItsSource() {
        PackageRules crowded = new PackageRules(FIXTURES + "crowded");

        assertThat(crowded.noTypeHasMoreCodeLinesThan(29)
                        .evaluate(BROKEN)
                        .getFailureReport()
                        .getDetails())
                .containsExactly(FIXTURES + "crowded.limit.Crowded has 30 code lines");
        crowded.noTypeHasMoreCodeLinesThan(30).check(BROKEN);
    }

    @Test
    void blanksCommentsImportsAndPackagesAreNotCode() {
        assertThat(CodeLines.of("""
                        package a;

                        import b.C;

                        /** A comment
                            of two lines. */
                        class D { // one

                            // none
                            int e = 2
                                    * 3;
                        }
                        """.lines().toList())).isEqualTo(4);
    }

    @Test
    void eachTernaryFitsOnOneLine() {
        new PackageRules(ROOT).eachTernaryFitsOnOneLine().check(MAIN);
    }

    @Test
    void aTernaryOfSeveralLinesIsFound() {
        assertThat(new PackageRules(FIXTURES + "crowded")
                        .eachTernaryFitsOnOneLine()
                        .evaluate(BROKEN)
                        .getFailureReport()
                        .getDetails())
                .containsExactly(FIXTURES + "crowded.limit.Spread has a ternary of several lines at line 11");
    }

    @Test
    void nothingHasMoreThanSixParameters() {
        new PackageRules(ROOT).nothingHasMoreParametersThan(6).check(MAIN);
    }

    @Test
    void whatTheSourceNamesOneByOneCounts() {
        List<String> found = new PackageRules(FIXTURES + "crowded")
                .nothingHasMoreParametersThan(6)
                .evaluate(BROKEN)
                .getFailureReport()
                .getDetails();

        String sevenTimesInt = "(int, int, int, int, int, int, int) has 7 parameters";
        String crowded = FIXTURES + "crowded.limit.Crowded";
        assertThat(found)
                .containsExactlyInAnyOrder(
                        crowded + ".<init>" + sevenTimesInt,
                        crowded + ".sum" + sevenTimesInt,
                        crowded + "$Named.<init>(int, int, int, int, int, int, java.lang.String) has 7 parameters");
    }

    @Test
    void eachPackageHasItsPlaceInTheOrder() {
        assertThat(MAIN.getPackage(ROOT).getSubpackages())
                .extracting(each -> each.getRelativeName())
                .containsExactlyInAnyOrderElementsOf(PackageRules.ORDER);
    }
}
