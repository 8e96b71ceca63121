package io.github.virtualthread.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The product page of the sample application, which runs in a JVM of its own: two queries of 120 and 150 ms, and a partner that
 * answers after 200 ms, all at the same time. Each of eight users asks for the page again as soon as it has it. No call waits for a
 * permit or a connection.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 2)
@Measurement(iterations = 3)
@Fork(1)
public class Request {

    private static final int USERS = 8;
    private static final Duration TIME = Duration.ofSeconds(2);

    /** Logged by the sample once it has started. */
    private static final Pattern ADDRESS = Pattern.compile("Open the laboratory at (http://\\S+)/ ,.*");

    @Param({"async", "ours"})
    public String contender;

    private final HttpClient http = HttpClient.newHttpClient();
    private Process sample;
    private HttpRequest request;

    @Setup
    public void prepare() throws IOException {
        sample = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xms1g",
                        "-Xmx1g",
                        "-jar",
                        Bench.SAMPLE.toString(),
                        "--server.port=0")
                .redirectErrorStream(true)
                .start();
        String page = contender.equals("ours") ? "/virtual/products/1" : "/async/products/1";
        request = HttpRequest.newBuilder(URI.create(address() + page)).build();
    }

    private String address() throws IOException {
        BufferedReader lines = sample.inputReader();
        List<String> said = new ArrayList<>();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Matcher address = ADDRESS.matcher(line);
            if (address.find()) {
                Thread.ofVirtual().start(() -> forget(lines));
                return address.group(1);
            }
            said.add(line);
        }
        throw new IllegalStateException("%s does not start: %s".formatted(Bench.SAMPLE, said));
    }

    /** Otherwise the process would block once the pipe is full. */
    private static void forget(BufferedReader lines) {
        try {
            lines.lines().forEach(line -> {});
        } catch (UncheckedIOException closed) {
            // the process has ended
        }
    }

    @Benchmark
    @Rows("contender=async,ours")
    public void page(Measured measured) throws Exception {
        measured.time = Callers.call(USERS, "platform", TIME, this::answer).nanosPerCall() / 1_000_000;
    }

    private String answer() throws Exception {
        HttpResponse<String> answer = http.send(request, BodyHandlers.ofString());
        if (answer.statusCode() != 200) {
            throw new IllegalStateException("%s answers %s: %s".formatted(request, answer.statusCode(), answer.body()));
        }
        return answer.body();
    }

    @TearDown
    public void end() throws InterruptedException {
        sample.destroy();
        sample.waitFor();
    }
}
