package com.acme.contradiction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.virtualthread.VirtualThread;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.ComponentScan;
import org.springframework.stereotype.Component;

/** Spring 7 reads the classes that it scans in another way than Spring 6, and reports them in other words. */
@ExtendWith(OutputCaptureExtension.class)
class ContradictionTests {

    @Test
    void anAnnotationThatContradictsItselfOnAScannedClassIsExplained(CapturedOutput output) {
        SpringApplication application = new SpringApplication(Scan.class);
        application.setWebApplicationType(WebApplicationType.NONE);

        assertThat(catchThrowable(application::run)).isNotNull();
        assertThat(output)
                .contains(
                        "@VirtualThread on com.acme.contradiction.ContradictionTests$Mailer.send contradicts itself: value"
                                + " is 'db', but limit is 'mail'")
                .doesNotContain("Application run failed");
    }

    @ComponentScan(resourcePattern = "ContradictionTests$Mailer.class")
    static class Scan {}

    @Component
    static class Mailer {

        @VirtualThread(value = "db", limit = "mail")
        public void send() {}
    }
}
