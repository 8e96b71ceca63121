package com.acme.weaving;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** In a JVM of its own: the warning comes once, and only before a context. */
@Timeout(value = 300, threadMode = ThreadMode.SEPARATE_THREAD) // also ends what cannot be interrupted
@ExtendWith(OutputCaptureExtension.class)
class BeforeTheContextTests {

    @Test
    void methodsRunInPlaceAndOneWarningSaysSo(CapturedOutput output) {
        Mailer mailer = new Mailer();

        assertThat(new Typed()).hasToString("Typed");
        assertThat(output).doesNotContain("runs in place");
        assertThat(mailer.send().join()).isSameAs(Thread.currentThread());
        assertThat(Mailer.sendStatically().join()).isSameAs(Thread.currentThread());
        assertThat(mailer.limited(3)).isEqualTo(3);

        assertThat(output).containsOnlyOnce("runs in place");
        assertThat(output)
                .contains("com.acme.weaving.Mailer.send with @VirtualThread runs in place")
                .contains("no application context with mode ASPECTJ has been started");
    }
}
