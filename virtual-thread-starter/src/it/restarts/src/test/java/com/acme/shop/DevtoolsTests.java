package com.acme.shop;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.util.FileSystemUtils;

/** An application whose class is compiled again while it runs. It has a JVM of its own: Devtools does nothing in tests. */
@Timeout(300)
class DevtoolsTests {

    @TempDir
    Path directory;

    @Test
    void aChangedClassIsUsedAndNothingOfOldContextsIsLeft() throws Exception {
        Path classes = directory.resolve("classes");
        FileSystemUtils.copyRecursively(
                Path.of(Prices.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toURI()),
                classes);
        Path prices = classes.resolve("com/acme/shop/Prices.class");
        Path output = directory.resolve("output.txt");
        Process application = start(classes, output);
        try {
            awaitLine(
                    output,
                    "RestartClassLoader 1: tea costs 7 EUR, 1 of 1 permits free, nothing left of earlier contexts");
            awaitLine(output, "call 1 is left running");

            change(prices, "7 EUR", "8 EUR");
            awaitLine(output, "call 1 ended with CancellationException");
            awaitLine(
                    output,
                    "RestartClassLoader 2: tea costs 8 EUR, 1 of 1 permits free, nothing left of earlier contexts");
            awaitLine(output, "call 2 is left running");

            change(prices, "8 EUR", "9 EUR");
            awaitLine(output, "call 2 ended with CancellationException");
            awaitLine(
                    output,
                    "RestartClassLoader 3: tea costs 9 EUR, 1 of 1 permits free, nothing left of earlier contexts");
        } finally {
            application.destroyForcibly().waitFor();
        }
    }

    private static Process start(Path classes, Path output) throws IOException {
        String jars = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(each -> each.endsWith(".jar"))
                .collect(Collectors.joining(File.pathSeparator));
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        // what only a soft reference holds is gone with the next collection, not some minutes later
                        "-XX:SoftRefLRUPolicyMSPerMB=0",
                        "-Xmx128m",
                        "-cp",
                        classes + File.pathSeparator + jars,
                        ShopApplication.class.getName(),
                        "--spring.profiles.active=devtools",
                        "--spring.main.keep-alive=true",
                        "--spring.devtools.livereload.enabled=false",
                        "--spring.devtools.restart.poll-interval=200ms",
                        "--spring.devtools.restart.quiet-period=100ms")
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
    }

    /** As a compiler does after a change of that constant: both texts are equally long. */
    private static void change(Path file, String before, String after) throws IOException {
        String code = Files.readString(file, ISO_8859_1);
        assertThat(code).contains(before);
        Path whole = Files.writeString(Files.createTempFile("Changed", null), code.replace(before, after), ISO_8859_1);
        Files.move(whole, file, StandardCopyOption.REPLACE_EXISTING); // not in two steps, which Devtools may see
    }

    private static void awaitLine(Path output, String line) {
        await().atMost(2, MINUTES).untilAsserted(() -> {
            try (Stream<String> lines = Files.lines(output, ISO_8859_1)) {
                assertThat(lines).contains(line);
            }
        });
    }
}
