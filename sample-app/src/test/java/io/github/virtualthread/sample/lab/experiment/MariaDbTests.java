package io.github.virtualthread.sample.lab.experiment;

class MariaDbTests extends DatabaseServerTest {

    MariaDbTests() {
        super("mariadb", "MariaDB 11.");
    }
}
