package io.github.virtualthread.sample.lab.experiment;

class PostgresTests extends DatabaseServerTest {

    PostgresTests() {
        super("postgres", "PostgreSQL 17.");
    }
}
