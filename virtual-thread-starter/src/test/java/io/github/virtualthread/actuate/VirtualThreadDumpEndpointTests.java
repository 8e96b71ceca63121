package io.github.virtualthread.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;

import com.sun.management.HotSpotDiagnosticMXBean.ThreadDumpFormat;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.context.WebApplicationContext;

/** The files of dumps of this JVM. */
@Timeout(300)
class VirtualThreadDumpEndpointTests {

    private final VirtualThreadDumpEndpoint endpoint = new VirtualThreadDumpEndpoint();
    private final CompletableFuture<Void> gate = new CompletableFuture<>();
    private List<Path> before = List.of();

    @BeforeEach
    void lookAtTheFiles() throws IOException {
        before = files();
    }

    @AfterEach
    void nothingIsLeft() throws IOException {
        gate.complete(null);
        assertThat(files()).isEqualTo(before);
    }

    @Test
    void noFileIsLeftOfADumpThatNobodyReads() throws IOException {
        try (InputStream unread = endpoint.json().getBody().getInputStream()) {
            assertThat(unread).isNotNull();
        }

        assertThat(files()).isEqualTo(before);
    }

    @Test
    void nothingIsLeftOfADumpThatFails() {
        assertThatThrownBy(() -> ThreadDumpFile.write(
                        (file, format) -> {
                            Files.writeString(Path.of(file), "half a dump");
                            throw new IOException("No space left on device");
                        },
                        ThreadDumpFormat.JSON))
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
        InputStream dump = endpoint.json().getBody().getInputStream();

        dump.close();
        dump.close();

        assertThat(files()).isEqualTo(before);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    application/json         | {"message": "Another thread dump is being written; try again when it is finished"}
                    text/plain;charset=UTF-8 | Another thread dump is being written; try again when it is finished
                    """)
    void oneDumpIsWrittenAtATime(String type, String refusal) {
        CountDownLatch writing = new CountDownLatch(1);
        VirtualThreadDumpEndpoint slow = new VirtualThreadDumpEndpoint((file, format) -> {
            writing.countDown();
            gate.join();
            Files.createFile(Path.of(file));
        });
        serving(slow).run(context -> {
            CompletableFuture<MockHttpServletResponse> first = CompletableFuture.supplyAsync(() -> ask(context, type));
            assertThat(writing.await(2, TimeUnit.MINUTES)).isTrue();

            MockHttpServletResponse second = ask(context, type);
            gate.complete(null);

            assertThat(second.getStatus()).isEqualTo(429);
            assertThat(second.getContentType()).isEqualTo(type);
            assertThat(second.getContentAsString()).isEqualTo(refusal);
            assertThat(first.join().getStatus()).isEqualTo(200);
            assertThat(ask(context, type).getStatus()).isEqualTo(200);
        });
    }

    @Test
    void aDumpThatFailedIsNotInTheWayOfTheNext() throws IOException {
        AtomicBoolean full = new AtomicBoolean(true);
        VirtualThreadDumpEndpoint onFullDisk = new VirtualThreadDumpEndpoint((file, format) -> {
            if (full.get()) {
                throw new IOException("No space left on device");
            }
            Files.createFile(Path.of(file));
        });
        assertThatThrownBy(onFullDisk::json).hasMessage("No space left on device");

        full.set(false);

        assertThat(onFullDisk.json().getStatus()).isEqualTo(200);
    }

    private static WebApplicationContextRunner serving(VirtualThreadDumpEndpoint endpoint) {
        return EndpointApplication.web()
                .withBean(VirtualThreadDumpEndpoint.class, () -> endpoint)
                .withPropertyValues(
                        "management.endpoints.web.exposure.include=virtualthreaddump",
                        "management.endpoint.virtualthreaddump.access=read-only");
    }

    private static MockHttpServletResponse ask(WebApplicationContext context, String type) {
        try {
            return MockMvcBuilders.webAppContextSetup(context)
                    .build()
                    .perform(get("/actuator/virtualthreaddump").accept(type))
                    .andReturn()
                    .getResponse();
        } catch (Exception failure) {
            throw new AssertionError(failure);
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
