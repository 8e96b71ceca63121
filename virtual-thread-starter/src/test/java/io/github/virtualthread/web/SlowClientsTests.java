package io.github.virtualthread.web;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** Fifty clients of one address take their time, and users of another address ask meanwhile. */
@Timeout(300)
@Tag("slow")
@DisabledOnOs(value = OS.MAC, disabledReason = "has only one address of its own")
class SlowClientsTests {

    private static final int SLOW = 50;
    private static final int REQUESTS = 30;
    private static final String UPLOAD =
            "POST /upload HTTP/1.1\r\nHost: shop\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\nfirst bytes";
    private static final String DOWNLOAD = "GET /download HTTP/1.1\r\nHost: shop\r\n\r\n";

    private final HttpClient user;

    SlowClientsTests() throws IOException {
        user = HttpClient.newBuilder()
                .localAddress(InetAddress.getByName("127.0.0.2"))
                .build();
    }

    @ParameterizedTest
    @CsvSource({"upload, client-address, 10, 30", "download, client-address, 10, 30", "upload, '', 50, 0"})
    void ofOneAddressHoldOnlyThePermitsOfTheirKey(String kind, String key, int held, int served) {
        DoorApplication.RUNNER
                .withUserConfiguration(Files.class)
                .withPropertyValues(
                        "server.tomcat.connection-timeout=5m", // as if each sent one byte a minute
                        "virtual-thread.limits.web.permits=50",
                        "virtual-thread.limits.web.permits-per-key=10",
                        "virtual-thread.limits.web.queue-capacity=%d".formatted(SLOW - held), // full
                        "virtual-thread.web.key=" + key)
                .run(context -> {
                    DoorApplication it = new DoorApplication(context);
                    ask(it); // what is slow once
                    String before = ask(it).toString();
                    List<Socket> slow = new ArrayList<>();
                    for (int i = 0; i < SLOW; i++) {
                        Socket client = new Socket("127.0.0.1", it.port());
                        slow.add(client);
                        client.getOutputStream().write((kind.equals("upload") ? UPLOAD : DOWNLOAD).getBytes(US_ASCII));
                    }
                    await().atMost(Duration.ofMinutes(2))
                            .until(() ->
                                    it.limit().inUse() == held && it.limit().waiting() == SLOW - held);

                    Answers meanwhile = ask(it);

                    System.out.printf(
                            "%d slow %ss of one address, key '%s': they hold %d permits; %d requests of another: %s; before: %s%n",
                            SLOW, kind, key, held, REQUESTS, meanwhile, before);
                    assertThat(meanwhile.served()).isEqualTo(served);
                    for (Socket client : slow) {
                        client.setSoLinger(true, 0);
                        client.close();
                    }
                    it.awaitFree();
                });
    }

    private Answers ask(DoorApplication it) throws Exception {
        List<Long> micros = new ArrayList<>();
        int served = 0;
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:%d/plain".formatted(it.port())))
                .build();
        for (int i = 0; i < REQUESTS; i++) {
            long begin = System.nanoTime();
            int status = user.sendAsync(request, BodyHandlers.discarding())
                    .get(2, MINUTES)
                    .statusCode();
            micros.add((System.nanoTime() - begin) / 1_000);
            served += status == 200 ? 1 : 0;
        }
        return new Answers(served, micros.stream().sorted().toList());
    }

    private record Answers(int served, List<Long> micros) {

        @Override
        public String toString() {
            return "%d answered 200, median %.1f ms, longest %.1f ms"
                    .formatted(served, micros.get(micros.size() / 2) / 1e3, micros.get(micros.size() - 1) / 1e3);
        }
    }

    @RestController
    static class Files {

        @PostMapping("/upload")
        String upload(@RequestBody String file) {
            return file;
        }

        @GetMapping("/download")
        byte[] download() {
            return new byte[50_000_000]; // more than the system buffers
        }

        @GetMapping("/plain")
        String plain() {
            return "plain";
        }
    }
}
