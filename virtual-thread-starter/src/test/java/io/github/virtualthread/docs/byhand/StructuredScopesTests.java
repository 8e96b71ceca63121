package io.github.virtualthread.docs.byhand;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnJre;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;

/** The example of structured scopes, compiled and run by a JVM that has them as a preview. */
@Timeout(300)
@Tag("slow")
class StructuredScopesTests {

    @TempDir
    private Path folder;

    @Test
    @EnabledOnJre(JRE.JAVA_25)
    void theExampleRuns() throws Exception {
        Path output = folder.resolve("output.txt");
        Process java = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-preview",
                        "--source",
                        "25",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "src/test/resources/preview/StructuredScopes.java")
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(java.waitFor(4, TimeUnit.MINUTES)).isTrue();
        } finally {
            java.destroyForcibly();
        }

        assertThat(java.exitValue()).as(Files.readString(output)).isZero();
        assertThat(output).content().contains("checks = 3");
    }
}
