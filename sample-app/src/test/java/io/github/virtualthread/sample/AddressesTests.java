package io.github.virtualthread.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
@Timeout(300)
class AddressesTests {

    @Test
    void theFirstLineAfterTheStartTellsTheAddresses(CapturedOutput output) {
        try (var context = new SpringApplicationBuilder(SampleApplication.class).run("--server.port=0")) {
            String origin = "http://localhost:" + context.getEnvironment().getProperty("local.server.port");

            assertThat(lineAfter("Started ", output.getOut().lines().toList()))
                    .contains("Open the laboratory at " + origin + "/ ,")
                    .contains(origin + "/sync/products/1 ")
                    .contains(origin + "/async/products/1 ")
                    .contains(origin + "/virtual/products/1 ");
            assertThat(output).contains("\"stock\": 5}' " + origin + "/products\n");
        }
    }

    private static String lineAfter(String mark, List<String> lines) {
        return lines.stream()
                .dropWhile(line -> !line.contains(mark))
                .skip(1)
                .findFirst()
                .orElseThrow();
    }
}
