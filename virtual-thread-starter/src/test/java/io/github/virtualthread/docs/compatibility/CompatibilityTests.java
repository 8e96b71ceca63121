package io.github.virtualthread.docs.compatibility;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.docs.Pages;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the README and the page call tested is what the build tests. */
class CompatibilityTests {

    private static final String README = Pages.text("README.md");
    private static final String PAGE = Pages.text("docs/compatibility.md");
    private static final String APPLICATIONS = "virtual-thread-starter/src/it/";
    private static final Pattern FOLDER = Pattern.compile("virtual-thread-starter/([\\w-]+/)?src/it/[\\w-]+");
    private static final String POM = Pages.text("pom.xml");

    @Test
    void theReadmeNamesTheLinesOfSpringBootThatTheApplicationRunsOn() {
        assertThat(all("serves Spring Boot ([\\d.]+(?:, [\\d.]+)* and [\\d.]+), on Java ", README))
                .isEqualTo(List.of(String.join(", ", versions(APPLICATIONS + "smoke", false))
                        .replaceFirst(", (?!.*, )", " and ")));
    }

    @Test
    void aspectjIsWhatTheApplicationsAreWovenBy() {
        assertThat(all("\\| AspectJ ([\\d.]+), \\[mode `aspectj`]", PAGE))
                .isEqualTo(
                        all("<aspectj\\.version>(.+)</", Pages.text("virtual-thread-starter/src/it/compiled/pom.xml")))
                .isEqualTo(all(
                        "<expected\\.aspectj>([\\d.]+)</", Pages.text("virtual-thread-starter/src/it/weaving/pom.xml")))
                .hasSize(1);
    }

    @Test
    void theWholeCheckRunsTheApplicationOnTheLowestJavaToo() {
        String lowest = all("<maven\\.compiler\\.release>(\\d+)</", POM).get(0);

        assertThat(README).contains(", on Java " + lowest + " or later");
        assertThat(Pages.text(".ci/common.sh")).contains("invoker:run ");
        assertThat(Pages.text(".ci/all"))
                .containsPattern("run_applications invoker-java-21\\.properties .* -Dit\\.java=" + lowest + "\\n");
    }

    @Test
    void thePageNamesTheApplicationsOfEachCheck() throws IOException {
        List<String> checked = applicationsWith("invoker-run.properties");

        assertThat(all("step \"Applications\" run_applications invoker-run.properties (\\S+)", Pages.text(".ci/run")))
                .containsExactly(String.join(",", checked));
        assertThat(PAGE.replace('\n', ' '))
                .contains("`mvn verify` runs `smoke` on 4.0.9 and `door` on Tomcat.")
                .contains("`.ci/run` adds `%s` and `%s` on 4.1.2, and `smoke` on 3.5.16 with Java 21."
                        .formatted(
                                String.join("`, `", checked.subList(0, checked.size() - 1)),
                                checked.get(checked.size() - 1)));
        assertThat(applicationsWith("invoker-quick.properties")).containsExactly("door", "smoke");
        assertThat(applicationsWith("invoker-run-java-21.properties")).containsExactly("smoke");
    }

    private static List<String> applicationsWith(String file) throws IOException {
        return applications().stream()
                .filter(application ->
                        Files.exists(Pages.ROOT.resolve(application).resolve(file)))
                .map(application -> application.replaceFirst(".*/", ""))
                .sorted()
                .toList();
    }

    @Test
    void thePageListsTheApplicationsAndTheirLines() throws IOException {
        Pattern row = Pattern.compile(
                "^\\| \\[(\\w+)]\\(\\.\\./(virtual-thread-starter/(?:[\\w-]+/)?src/it/\\1)\\)(, ahead of time)?"
                        + " \\| .+ \\| ([\\d., ]+) \\|$");

        List<String> run = new ArrayList<>();
        for (String application : applications()) {
            for (String how : List.of("", ", ahead of time")) {
                List<String> versions = versions(application, !how.isEmpty());
                if (!versions.isEmpty()) {
                    run.add(line(application, how, String.join(", ", versions)));
                }
            }
        }
        Pages.assertRows(
                "docs/compatibility.md",
                row,
                found -> line(found.group(2), Objects.toString(found.group(3), ""), found.group(4)),
                run);
    }

    private static String line(String application, String how, String versions) {
        return "| [%s](../%s)%s | ... | %s |"
                .formatted(application.replaceFirst(".*/", ""), application, how, versions);
    }

    @Test
    void kotlinIsTheVersionOfTheApplication() {
        String kotlin = all("<kotlin\\.version>(.+)</", Pages.text(APPLICATIONS + "kotlin/pom.xml"))
                .get(0);

        assertThat(PAGE).contains("| Kotlin " + kotlin + ": ");
    }

    @Test
    void springCloudIsWhatTheApplicationIsRefreshedBy() {
        List<String> versions =
                all("-Dspring-cloud\\.version=(\\S+)", Pages.invocations(APPLICATIONS + "restarts")).stream()
                        .distinct()
                        .toList();

        assertThat(all("by Spring Cloud ([\\d.]+ and [\\d.]+) \\|", PAGE))
                .isEqualTo(List.of(String.join(" and ", versions)));
    }

    @Test
    void thePageNamesTheVersionsOfTheBuild() {
        assertThat(all("compiled against Spring Boot ([\\d.]+),", PAGE))
                .isEqualTo(all("<starter\\.spring-boot\\.version>(.+)</", POM));
        assertThat(all("\\(\\.\\./sample-app\\) runs on ([\\d.]+)\\.\\n", PAGE))
                .isEqualTo(all("<sample\\.spring-boot\\.version>(.+)</", POM));
        assertThat(all("(?m)^\\| (\\d+) \\|", PAGE))
                .last()
                .isEqualTo(all("<maven\\.compiler\\.release>(\\d+)</", POM).get(0));
    }

    @Test
    void thePageListsTheOptionalLibrariesAndWhatBringsThem() {
        String starter = Pages.text("virtual-thread-starter/pom.xml");
        List<String> optional = all("(?s)<dependency>((?:(?!</dependency>).)*)</dependency>", starter).stream()
                .filter(each -> each.contains("<optional>true") && !each.contains("<scope>provided"))
                .map(each -> all("<artifactId>(.+?)</", each).get(0))
                // annotations for compilers
                .filter(each -> !each.equals("jspecify"))
                .toList();
        String row = "(?m)^\\| [^|`]+ \\| `%s` \\| %s \\|$";

        assertThat(all(row.formatted("(\\S+)", "\\S+"), PAGE))
                .isNotEmpty()
                .containsExactlyInAnyOrderElementsOf(optional);
        assertThat(all(row.formatted("\\S+", "`(\\S+)`"), PAGE))
                .isNotEmpty()
                .isSubsetOf(all("<(?:artifactId|starter\\.web)>(.+)</", Pages.text(APPLICATIONS + "smoke/pom.xml")));
    }

    private static List<String> applications() throws IOException {
        try (Stream<Path> files = Files.walk(Pages.ROOT.resolve("virtual-thread-starter"), 4)) {
            return files.filter(each -> Files.exists(each.resolve("pom.xml")))
                    .map(each -> Pages.ROOT.relativize(each).toString())
                    .filter(FOLDER.asMatchPredicate())
                    .toList();
        }
    }

    /** The lines of Spring Boot that an application runs on, each with one server or more, from generated code or as usual. */
    private static List<String> versions(String application, boolean aheadOfTime) {
        String goals = "(?m)^invoker\\.goals(?:\\.\\d+)? = (?%s.* -Daot=true).* -Dspring-boot\\.version=(\\S+)";
        return all(goals.formatted(aheadOfTime ? "=" : "!"), Pages.invocations(application)).stream()
                .distinct()
                .sorted()
                .toList();
    }

    private static List<String> all(String pattern, String text) {
        return Pattern.compile(pattern)
                .matcher(text)
                .results()
                .map(found -> found.group(1))
                .toList();
    }
}
