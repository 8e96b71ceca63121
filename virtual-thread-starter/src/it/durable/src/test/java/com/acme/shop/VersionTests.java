package com.acme.shop;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringBootVersion;

class VersionTests {

    @Test
    void itRunsOnTheSpringBootAndTheJavaThatWereAskedFor() {
        assertThat(SpringBootVersion.getVersion()).isEqualTo(System.getProperty("expected.spring-boot"));
        String java = System.getProperty("expected.java");
        if (java == null || java.isBlank()) {
            assertThat(Runtime.version().feature()).isGreaterThanOrEqualTo(21);
        } else {
            assertThat(Runtime.version().feature()).hasToString(java);
        }
        assertThat(VirtualThread.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .getPath())
                .endsWith(".jar");
    }
}
