package io.github.virtualthread.web;

import static io.github.virtualthread.web.TcpTable.ports;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.web.TcpTable.State;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which connections of two ports are there, as the tables of Linux tell. */
@Timeout(300)
class TcpTableTests {

    private static final String HEADER =
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"
                    + "                                                     \n";
    private static final String HEADER_6 = "  sl  local_address                         remote_address"
            + "                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
    private static final String REST =
            " 00000000:00000000 00:00000000 00000000  1000        0 52123 1 0000000000000000 20 4 30 10 -1      \n";

    private final Path tcp;
    private final Path tcp6;
    private final TcpTable table;

    TcpTableTests(@TempDir Path folder) {
        tcp = folder.resolve("tcp");
        tcp6 = folder.resolve("tcp6");
        table = new TcpTable(List.of(tcp, tcp6));
    }

    private State state(int local, int remote) throws IOException {
        int ports = ports(local, remote);
        return table.states(Set.of(ports)).get(ports);
    }

    /** One line of IPv4, from 127.0.0.1:8080. */
    private static String line(int number, int remote, String state) {
        return "%4d: 0100007F:1F90 0100007F:%04X %s".formatted(number, remote, state) + REST;
    }

    @ParameterizedTest
    @CsvSource({
        "01, ESTABLISHED",
        "02, MISSING",
        "03, MISSING",
        "04, MISSING",
        "05, MISSING",
        "06, MISSING",
        "07, MISSING",
        "08, CLOSED_BY_CLIENT",
        "09, MISSING",
        "0A, MISSING",
        "0B, MISSING",
        "0C, MISSING"
    })
    void everyStateOfLinux(String code, State state) throws IOException {
        Files.writeString(tcp, HEADER + line(0, 1, "01") + line(1, 50_000, code) + line(2, 2, "08"));

        assertThat(state(8080, 50_000)).isEqualTo(state);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "   0: 0100007F:1F90 0100007F:C350 08",
                "   0: 00000000000000000000000001000000:1F90 00000000000000000000000001000000:C350 08",
                "   0: 0000000000000000FFFF00000100007F:1F90 0000000000000000FFFF00000100007F:C350 08",
                "   0: B80D0120000000000000000001000000:1F90 B80D01200000000000000000FFFFFFFF:C350 08",
                "12345: 0100007F:1F90 FFFFFFFF:C350 08"
            })
    void addressesOfEachKind(String line) throws IOException {
        Files.writeString(tcp6, HEADER_6 + line + REST);

        assertThat(state(8080, 50_000)).isEqualTo(State.CLOSED_BY_CLIENT);
        assertThat(state(50_000, 8080)).isEqualTo(State.MISSING);
        assertThat(state(8081, 50_000)).isEqualTo(State.MISSING);
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "65535, 65535", "65535, 1", "1, 65535", "8080, 32768", "32768, 8080", "443, 61000"})
    void everyPort(int local, int remote) throws IOException {
        Files.writeString(tcp, HEADER + "   0: 0100007F:%04X 0100007F:%04X 01".formatted(local, remote) + REST);

        assertThat(state(local, remote)).isEqualTo(State.ESTABLISHED);
    }

    @ParameterizedTest
    @CsvSource({"01, 08", "08, 01", "01, 01"})
    void oneThatIsEstablishedCounts(String first, String second) throws IOException {
        Files.writeString(tcp, HEADER + line(0, 50_000, first));
        Files.writeString(tcp6, HEADER_6 + line(0, 50_000, second));
        assertThat(state(8080, 50_000)).isEqualTo(State.ESTABLISHED);

        Files.writeString(tcp, HEADER + line(0, 50_000, first) + line(1, 50_000, second));
        Files.delete(tcp6);
        assertThat(state(8080, 50_000)).isEqualTo(State.ESTABLISHED);
    }

    @Test
    void aLineThatIsTornDoesNotCount() throws IOException {
        String line = line(0, 50_000, "08");
        int state = line.indexOf("08");
        for (int length = 0; length <= state + 2; length++) {
            Files.writeString(tcp, HEADER + line.substring(0, length));
            assertThat(state(8080, 50_000)).as("%d characters", length).isEqualTo(State.MISSING);

            Files.writeString(tcp, HEADER + line.substring(0, length) + "\n" + line(1, 50_001, "01"));
            assertThat(state(8080, 50_000)).as("%d characters", length).isEqualTo(State.MISSING);
            assertThat(state(8080, 50_001)).isEqualTo(State.ESTABLISHED);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\n\n", "   ", "no table at all: 1 2 3 08 \n", ": : : : \n", "\0\0\0 \0 \0 \0 \n"})
    void whatIsNoTableHasNoLines(String text) throws IOException {
        Files.writeString(tcp, text);

        assertThat(state(8080, 50_000)).isEqualTo(State.MISSING);
        assertThat(state(0, 0)).isEqualTo(State.MISSING);
    }

    /** Lines lie across the ends of what is read at once. */
    @Test
    void aHugeTable() throws IOException {
        StringBuilder text = new StringBuilder(HEADER);
        for (int remote = 1_024; remote < 41_024; remote++) {
            text.append(line(remote, remote, remote % 3 == 0 ? "08" : "01"));
        }
        Files.writeString(tcp, text);

        Set<Integer> wanted = Set.of(ports(8080, 1_026), ports(8080, 1_027), ports(8080, 41_023), ports(8080, 41_024));
        assertThat(table.states(wanted))
                .containsEntry(ports(8080, 1_026), State.CLOSED_BY_CLIENT)
                .containsEntry(ports(8080, 1_027), State.ESTABLISHED)
                .containsEntry(ports(8080, 41_023), State.ESTABLISHED)
                .containsEntry(ports(8080, 41_024), State.MISSING)
                .hasSize(4);
        for (int remote = 1_024; remote < 41_024; remote += 997) {
            assertThat(state(8080, remote)).isEqualTo(remote % 3 == 0 ? State.CLOSED_BY_CLIENT : State.ESTABLISHED);
        }
    }

    @Test
    void oneOfTheFilesIsEnough() throws IOException {
        assertThat(table.isReadable()).isFalse();
        Files.writeString(tcp6, HEADER_6 + line(0, 50_000, "01"));

        assertThat(table.isReadable()).isTrue();
        assertThat(state(8080, 50_000)).isEqualTo(State.ESTABLISHED);
    }

    /** Not that all are missing. */
    @Test
    void withoutAFileNothingIsKnown() {
        assertThatThrownBy(() -> state(8080, 50_000)).isInstanceOf(IOException.class);
    }

    @EnabledOnOs(OS.LINUX)
    @Test
    void theTableOfThisMachine() throws IOException {
        assertThat(ClientWatch.isPossible()).isTrue();
        for (String address : List.of("127.0.0.1", "::1")) {
            try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getByName(address))) {
                Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
                try (Socket accepted = server.accept()) {
                    int ports = ports(accepted.getLocalPort(), accepted.getPort());
                    Set<Integer> wanted = Set.of(ports);
                    assertThat(TcpTable.OF_LINUX.states(wanted)).containsEntry(ports, State.ESTABLISHED);

                    client.close();

                    assertThat(accepted.getInputStream().read()).isEqualTo(-1); // it has come
                    assertThat(TcpTable.OF_LINUX.states(wanted)).containsEntry(ports, State.CLOSED_BY_CLIENT);
                }
            }
        }
    }
}
