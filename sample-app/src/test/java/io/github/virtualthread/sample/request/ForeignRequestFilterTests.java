package io.github.virtualthread.sample.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.lab.Lab;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.mock.web.MockFilterChain;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

/** A page of another origin neither starts nor reads anything, under no name. */
@SampleTest
class ForeignRequestFilterTests {

    private static final String RUN = "/lab/experiments/pool-or-virtual/runs";
    private static final String LONG = "{\"tasks\": \"100\", \"millis\": \"5000\", \"rounds\": \"10\"}";

    @LocalServerPort
    private int port;

    @Autowired
    private Lab lab;

    @ParameterizedTest
    @CsvSource({
        "same-origin, application/json, 202",
        "same-site,   application/json, 403",
        "cross-site,  application/json, 403",
        "none,        application/json, 403",
        "'',          application/json, 202",
        "'',          text/plain,       415",
        "'',          '',               415"
    })
    void onlyJsonOfThisOriginStartsAnExperiment(String site, String type, int status) throws IOException {
        String headers = header("Sec-Fetch-Site", site) + header("Content-Type", type);

        assertThat(status("POST " + RUN, "localhost", headers, LONG)).isEqualTo(status);
        assertThat(lab.running().isPresent()).isEqualTo(status == 202);
    }

    @Test
    void anExperimentDoesNotStartWithoutSettingsNorByGet() throws IOException {
        assertThat(status("POST " + RUN, "localhost", "", "")).isEqualTo(415);
        assertThat(status("GET " + RUN, "localhost", "", "")).isEqualTo(405);
        assertThat(lab.running()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/lab/flood/pool",
                "/lab/requests/quick",
                "/lab/experiments",
                "/sync/products/1",
                "/actuator/health"
            })
    void aPageOfAnotherOriginReachesNoAddress(String path) throws IOException {
        assertThat(status("GET " + path, "localhost", header("Sec-Fetch-Site", "cross-site"), ""))
                .isEqualTo(403);
        assertThat(status("GET " + path, "localhost", header("Sec-Fetch-Site", "none"), ""))
                .isEqualTo(200);
    }

    @Test
    void aLinkLeadsToThePage() throws IOException {
        assertThat(status("GET /", "localhost", header("Sec-Fetch-Site", "cross-site"), ""))
                .isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost", "localhost:80", "127.0.0.1:8080", "[::1]:9"})
    void thisMachineIsAnsweredUnderItsNames(String host) throws IOException {
        assertThat(status("GET /actuator/health", host, "", "")).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/lab/experiments", "/actuator/health", "/actuator/virtualthreads/db", "/no-such"})
    void anotherHostIsNotAnswered(String path) throws IOException {
        assertThat(status("GET " + path, "rebound.example:" + port, "", "")).isEqualTo(421);
        assertThat(status("GET " + path, "localhost.example", "", "")).isEqualTo(421);
    }

    @Test
    void aNameOfThePropertyIsAnsweredAndARefusalNamesIt() throws Exception {
        var filter = new ForeignRequestFilter(Set.of("sample"));
        assertThat(answer(filter, "sample").getStatus()).isEqualTo(200);

        assertThat(answer(filter, "other").getContentAsString())
                .isEqualToIgnoringNewLines(
                        "The host must be localhost, 127.0.0.1, [::1] or one of sample.hosts [sample], was 'other'");
    }

    private static MockHttpServletResponse answer(ForeignRequestFilter filter, String host) throws Exception {
        var request = new MockHttpServletRequest("GET", "/");
        request.setServerName(host);
        var response = new MockHttpServletResponse();
        filter.doFilter(request, response, new MockFilterChain());
        return response;
    }

    private static String header(String name, String value) {
        return value.isEmpty() ? "" : "%s: %s\r\n".formatted(name, value);
    }

    /** By a socket: clients for HTTP choose the host themselves. */
    private int status(String line, String host, String headers, String body) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            String request = "%s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n%sContent-Length: %d\r\n\r\n%s"
                    .formatted(line, host, headers, body.length(), body);
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            var reader = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
            return Integer.parseInt(reader.readLine().split(" ")[1]);
        }
    }
}
