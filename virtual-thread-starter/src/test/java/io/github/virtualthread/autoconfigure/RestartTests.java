package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An application that is started anew in the same JVM. */
@Timeout(value = 15, unit = TimeUnit.MINUTES)
@Tag("slow")
@Tag("jdk")
class RestartTests {

    @Test
    void twoHundredContextsLeaveNothingBehind(@TempDir Path directory) throws Exception {
        Path output = directory.resolve("output.txt");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx128m",
                        // what only a soft reference holds is gone with the next collection, not some minutes later
                        "-XX:SoftRefLRUPolicyMSPerMB=0",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Restarts.class.getName(),
                        "200")
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(process.waitFor(10, TimeUnit.MINUTES))
                    .as("ended in time")
                    .isTrue();
        } finally {
            process.destroyForcibly();
        }

        String told = Files.readString(output, StandardCharsets.UTF_8);
        System.out.println(told);
        assertThat(told)
                .contains(
                        "200 contexts",
                        "threads left: []",
                        "class loaders left: []",
                        "meters left: []",
                        "MBeans left: []");
        assertThat(process.exitValue()).isZero();
    }
}
