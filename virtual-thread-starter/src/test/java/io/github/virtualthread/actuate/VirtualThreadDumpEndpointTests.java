package io.github.virtualthread.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.jayway.jsonpath.JsonPath;
import com.sun.management.HotSpotDiagnosticMXBean.ThreadDumpFormat;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.core.io.Resource;

/** Dumps of this JVM, with a virtual thread that waits. */
@Timeout(30)
class VirtualThreadDumpEndpointTests {

    private final VirtualThreadDumpEndpoint endpoint = new VirtualThreadDumpEndpoint();
    private final CountDownLatch gate = new CountDownLatch(1);
    private List<Path> before = List.of();

    @BeforeEach
    void startAThread() throws Exception {
        before = files();
        CountDownLatch running = new CountDownLatch(1);
        Thread.ofVirtual().name("vt-Prices.find-1").start(() -> waitFor(running));
        assertThat(running.await(20, TimeUnit.SECONDS)).isTrue();
    }

    @AfterEach
    void nothingIsLeft() throws IOException {
        gate.countDown();
        assertThat(files()).isEqualTo(before);
    }

    @Test
    void theJsonListsVirtualThreads() throws IOException {
        assertJson(read(endpoint.json()));
    }

    @Test
    void theTextListsVirtualThreadsWithTheirStacks() throws IOException {
        assertText(read(endpoint.text()));
    }

    @Test
    void noFileIsLeftOfADumpThatNobodyReads() throws IOException {
        try (InputStream unread = endpoint.json().getInputStream()) {
            assertThat(unread).isNotNull();
        }

        assertThat(files()).isEqualTo(before);
    }

    @Test
    void nothingIsLeftOfADumpThatFails() {
        assertThatThrownBy(() -> ThreadDumpFile.write(file -> {
                    Files.writeString(Path.of(file), "half a dump");
                    throw new IOException("No space left on device");
                }))
                .hasMessage("No space left on device");
    }

    @Test
    void aDumpIsNobodysButItsOwners() throws IOException {
        Path directory = ThreadDumpFile.newDirectory();
        try {
            if (Files.getFileStore(directory).supportsFileAttributeView("posix")) {
                assertThat(Files.getPosixFilePermissions(directory))
                        .allMatch(permission -> permission.name().startsWith("OWNER_"));
            }
        } finally {
            Files.delete(directory);
        }
    }

    @Test
    void aStreamThatIsClosedTwiceHarmsNothing() throws IOException {
        InputStream dump = ThreadDumpFile.write(ThreadDumpFormat.JSON);

        dump.close();
        dump.close();

        assertThat(files()).isEqualTo(before);
    }

    @Test
    void dumpsAtTheSameTimeDoNotMix() throws Exception {
        try (ExecutorService clients = Executors.newFixedThreadPool(4)) {
            Callable<String> json = () -> read(endpoint.json());
            Callable<String> text = () -> read(endpoint.text());
            List<Future<String>> dumps = clients.invokeAll(List.of(json, text, json, text));

            for (int i = 0; i < dumps.size(); i += 2) {
                assertJson(dumps.get(i).get());
                assertText(dumps.get(i + 1).get());
            }
        }
    }

    private void waitFor(CountDownLatch running) {
        running.countDown();
        try {
            gate.await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static void assertJson(String dump) {
        List<String> names = JsonPath.read(dump, "$.threadDump.threadContainers[*].threads[*].name");
        assertThat(names).contains("main", "vt-Prices.find-1");
    }

    private static void assertText(String dump) {
        assertThat(dump).doesNotStartWith("{").contains("\"main\"", "\"vt-Prices.find-1\" virtual", "waitFor");
    }

    private static String read(Resource dump) throws IOException {
        try (InputStream input = dump.getInputStream()) {
            return new String(input.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            return files.filter(file -> file.getFileName().toString().startsWith(ThreadDumpFile.PREFIX))
                    .sorted()
                    .toList();
        }
    }
}
