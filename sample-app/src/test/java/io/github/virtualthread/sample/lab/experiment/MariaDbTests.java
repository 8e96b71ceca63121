package io.github.virtualthread.sample.lab.experiment;

import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

@DisabledOnOs(
        value = OS.LINUX,
        architectures = "aarch64",
        disabledReason = "MariaDB's program for Linux is for x86-64 alone")
class MariaDbTests extends DatabaseServerTest {

    MariaDbTests() {
        super("mariadb", "MariaDB 11.");
    }
}
