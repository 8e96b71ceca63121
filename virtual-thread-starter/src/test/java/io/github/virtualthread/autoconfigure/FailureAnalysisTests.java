package io.github.virtualthread.autoconfigure;

import static io.github.virtualthread.autoconfigure.Contexts.setVariables;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.aop.Contradiction;
import io.github.virtualthread.mistake.Contradictory;
import io.github.virtualthread.mistake.Mistake;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.ComponentScan;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.AnnotationConfigurationException;
import org.springframework.core.env.StandardEnvironment;

/** What somebody sees whose application does not start. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class FailureAnalysisTests {

    @Test
    void oneMistakeIsShownAsItIs(CapturedOutput output) {
        start(Application.class, "--virtual-thread.limits.mail.permits=1", "--virtual-thread.limits.report.permits=1");

        assertThat(normalized(output)).contains("""
                Description:

                %1$s.send asks for limit 'mial', but the configured limits are [mail, report]

                Action:

                Did you mean 'mail'? Correct @VirtualThread on %1$s.send, or set virtual-thread.limits.mial.permits.
                """.formatted(Mailer.class.getName()));
    }

    @ParameterizedTest
    @CsvSource({
        "limts.db.queue-capacity, limits.db.queue-capacity",
        "method[com.acme.Mailer.send].limit, methods[com.acme.Mailer.send].limit",
        "pining.threshold, pinning.threshold",
        "propagation.mdc-key, propagation.mdc-keys",
        "cluster.jdbcs.table, cluster.jdbc.table"
    })
    void aMisspeltSegmentIsFound(String key, String meant, CapturedOutput output) {
        start(Empty.class, "--virtual-thread." + key + "=1");

        assertThat(normalized(output)).contains("Did you mean virtual-thread." + meant + "?");
    }

    @Test
    void aMisspeltKeyWithoutAValueIsNotIgnored(CapturedOutput output, @TempDir Path directory) throws IOException {
        Path file = Files.writeString(directory.resolve("application.yml"), """
                virtual-thread:
                  stuck: []
                  timeout:
                  limits:
                    db:
                      permits: 1
                      permit: []
                      queue-capacity: ""
                  methods:
                    "[com.acme.Mailer.send]":
                      limit:
                      timeot:
                """);

        start(Empty.class, "--spring.config.location=" + file.toUri());

        assertThat(normalized(output))
                .contains("virtual-thread.stuck is not a property of the virtual-thread starter")
                .contains("Did you mean virtual-thread.limits.db.permits?")
                .contains("Did you mean virtual-thread.methods[com.acme.Mailer.send].timeout?")
                .doesNotContain("queue-capacity is not", ".limit is not", "virtual-thread.timeout is not");
    }

    @Test
    void aValueOfAnotherTypeIsShownWithItsFileAndLine(CapturedOutput output, @TempDir Path directory)
            throws IOException {
        Path file = Files.writeString(directory.resolve("application.yml"), """
                virtual-thread:
                  limits:
                    db:
                      permits: twenty
                """);

        start(Empty.class, "--spring.config.location=" + file.toUri());

        assertThat(normalized(output))
                .contains(
                        "virtual-thread.limits.db.permits must be a whole number from 1 to 2147483647, was 'twenty' (")
                .contains("application.yml] - 4:16)");
    }

    @Test
    void aValueOutOfItsRangeIsShownWithItsFileAndLine(CapturedOutput output, @TempDir Path directory)
            throws IOException {
        Path file = Files.writeString(directory.resolve("application.yml"), """
                virtual-thread:
                  timeout: 0s
                  limits:
                    "[partner.api]":
                      permits: 0
                      permits-per-key: 1
                      max-wait: 0s
                """);

        start(Empty.class, "--spring.config.location=" + file.toUri());

        String place = " (URL [" + file.toUri().toURL() + "] - %s)";
        assertThat(normalized(output))
                .contains("virtual-thread.timeout must be longer than zero, was 0s" + place.formatted("2:12"))
                .contains("Limit 'partner.api': permits must be at least 1, was 0" + place.formatted("5:16")
                        + "; max-wait must be longer than zero, was 0s (to reject calls instead of letting them wait, set"
                        + " queue-capacity to 0)" + place.formatted("7:17"));
    }

    /** Spring reads the annotations of each class that it scans, before there are beans to check. */
    @ParameterizedTest
    @MethodSource("scans")
    void anAnnotationThatContradictsItselfOnAScannedClassIsExplained(
            Class<?> scan, String annotation, String values, CapturedOutput output) {
        start(scan);

        assertThat(normalized(output))
                .contains("""
                Description:

                %s contradicts itself: %s

                Action:

                Set only one of the attributes; value and limit mean the same.
                """.formatted(annotation, values))
                .doesNotContain("Application run failed", "\tat ");
    }

    static Stream<Arguments> scans() {
        String values = "value is 'db', but limit is 'mail'";
        return Stream.of(
                Arguments.of(
                        OfMethod.class,
                        "@VirtualThread on " + Contradictory.OfMethod.class.getName() + ".send",
                        values),
                Arguments.of(OfClass.class, "@Limited on " + Contradictory.OfClass.class.getName(), values),
                Arguments.of(OfOwn.class, "@OnLimit on " + Contradictory.OfOwn.class.getName() + ".send", values));
    }

    /** Spring 7 on JDK 24 or later reports no class, and the scan reports its file. */
    @ParameterizedTest
    @CsvSource({
        "OfMethod, io.github.virtualthread.VirtualThread, @VirtualThread, .send",
        "OfClass, io.github.virtualthread.Limited, @Limited, ''",
        "OfOwn, io.github.virtualthread.mistake.Contradictory$OnLimit, @OnLimit, .send"
    })
    void aReportWithoutAClassIsExplainedByTheFile(String type, String annotation, String shown, String method) {
        String name = Contradictory.class.getName() + "$" + type;
        AnnotationConfigurationException read = new AnnotationConfigurationException(
                "Different @AliasFor mirror values for annotation [%s] declared on Source[entryName=Annotation[..]]; attribute 'limit' and its alias 'value' are declared with values of [mail] and [db]."
                        .formatted(annotation));
        String scan = "Failed to read candidate component class: URL [jar:file:/shop.jar!/BOOT-INF/classes/!/%s.class]";

        assertThat(Contradiction.inScannedClass(
                        read, new IllegalStateException(scan.formatted(name.replace('.', '/')))))
                .extracting(Mistake::description)
                .isEqualTo("%s on %s%s contradicts itself: value is 'db', but limit is 'mail'"
                        .formatted(shown, name, method));
        assertThat(Contradiction.inScannedClass(read, new IllegalStateException(scan.formatted("com/acme/Gone"))))
                .extracting(Mistake::description)
                .asString()
                .contains("com/acme/Gone.class");
    }

    @Test
    void anAnnotationOfOthersIsNotOurs(CapturedOutput output) {
        start(OfOthers.class);

        assertThat(normalized(output)).contains("Application run failed").doesNotContain("contradicts itself");
    }

    @Test
    void aWrongEnvironmentVariableIsShownWithTheKeyThatItStandsFor(CapturedOutput output) {
        SpringApplication application = new SpringApplication(Empty.class);
        StandardEnvironment environment = new StandardEnvironment();
        setVariables(environment, Map.of("VIRTUALTHREAD_LIMITS_DB_QUEUECAPACITY", "many"));
        application.setEnvironment(environment);

        start(application);

        assertThat(normalized(output))
                .contains(
                        "virtual-thread.limits.db.queue-capacity must be a whole number from 0 to 2147483647, was 'many'"
                                + " (System Environment Property \"VIRTUALTHREAD_LIMITS_DB_QUEUECAPACITY\")");
    }

    private static void start(Class<?> type, String... arguments) {
        start(new SpringApplication(type), arguments);
    }

    private static void start(SpringApplication application, String... arguments) {
        application.setWebApplicationType(WebApplicationType.NONE);
        List<String> all = new ArrayList<>(List.of(arguments));
        all.add("--spring.main.banner-mode=off");

        Throwable failure =
                catchThrowable(() -> application.run(all.toArray(String[]::new)).close());

        assertThat(failure).as("the start must fail").isNotNull();
    }

    private static String normalized(CapturedOutput output) {
        return output.getAll().replace(System.lineSeparator(), "\n");
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    static class Empty {}

    @Configuration(proxyBeanMethods = false)
    @ComponentScan(basePackageClasses = Contradictory.class, resourcePattern = "Contradictory$OfMethod.class")
    static class OfMethod {}

    @Configuration(proxyBeanMethods = false)
    @ComponentScan(basePackageClasses = Contradictory.class, resourcePattern = "Contradictory$OfClass.class")
    static class OfClass {}

    @Configuration(proxyBeanMethods = false)
    @ComponentScan(basePackageClasses = Contradictory.class, resourcePattern = "Contradictory$OfOwn.class")
    static class OfOwn {}

    @Configuration(proxyBeanMethods = false)
    @ComponentScan(basePackageClasses = Contradictory.class, resourcePattern = "Contradictory$OfOthers.class")
    static class OfOthers {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    @Import(Mailer.class)
    static class Application {}

    static class Mailer {

        @VirtualThread("mial")
        public CompletableFuture<Void> send() {
            return CompletableFuture.completedFuture(null);
        }
    }
}
