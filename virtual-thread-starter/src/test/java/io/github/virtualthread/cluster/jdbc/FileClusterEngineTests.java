package io.github.virtualthread.cluster.jdbc;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** In H2, in a file: other processes may have had it. */
@Tag("slow")
class FileClusterEngineTests extends JdbcEngineContract {

    @TempDir
    static Path folder;

    @Override
    protected String url() {
        return "jdbc:h2:file:" + folder.resolve("cluster") + ";DB_CLOSE_DELAY=10";
    }

    @Override
    protected int claims() {
        return 100;
    }
}
