package io.github.virtualthread.cluster.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.Connection;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** In H2, in a file: other processes may have had it. */
@Tag("slow")
class FileClusterStoreTests extends JdbcStoreContract {

    @TempDir
    static Path folder;

    @Override
    protected String url() {
        return "jdbc:h2:file:" + folder.resolve("cluster") + ";DB_CLOSE_DELAY=10";
    }

    @Test
    void otherProcessesMayHaveReachedIt() throws Exception {
        try (Connection connection = connect()) {
            JdbcClusterStore store = new JdbcClusterStore(new WatchedConnections(connection).dataSource(), "shop");
            assertThat(read(store, List.of("partner")).isShared()).isTrue();
        }
    }
}
