package com.acme.hipster;

import static org.assertj.core.api.Assertions.assertThat;

import com.acme.hipster.service.MailService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

/** Runs with the settings of the tests, which hide those of the application. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class MailServiceTests {

    @Test
    void itsLimitIsInTheSettingsOfTheTests(CapturedOutput output) throws Exception {
        try (ConfigurableApplicationContext hipster = SpringApplication.run(HipsterApp.class)) {
            assertThat(output)
                    .contains("1 annotated method, 0 of them without a limit")
                    .contains("taskExecutor (1 permit, queue of 10000, ");
            assertThat(hipster.getBean(MailService.class).sendActivationEmail().get(2, TimeUnit.MINUTES))
                    .startsWith("sent on VirtualThread[");
        }
    }
}
