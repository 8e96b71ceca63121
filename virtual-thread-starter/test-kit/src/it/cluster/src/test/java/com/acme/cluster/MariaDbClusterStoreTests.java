package com.acme.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.acme.servers.MariaDb;
import io.github.virtualthread.cluster.ClusterStore;
import io.github.virtualthread.cluster.jdbc.JdbcStoreContract;
import java.io.IOException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** In MariaDB, by the store in the jar. */
class MariaDbClusterStoreTests extends JdbcStoreContract {

    private static MariaDb server;

    @BeforeAll
    @Timeout(300)
    static void startServer() throws IOException {
        server = MariaDb.started();
    }

    @AfterAll
    @Timeout(300)
    static void stopServer() throws IOException {
        server.stop();
    }

    @Override
    protected String url() {
        return server.url();
    }

    @Override
    protected String user() {
        return "root";
    }

    @Override
    protected String timeZone(String zone) {
        return "set time_zone = '" + zone + "'";
    }

    @Test
    void theStoreIsThatOfTheJar() {
        assertThat(ClusterStore.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .getPath())
                .endsWith(".jar");
    }
}
