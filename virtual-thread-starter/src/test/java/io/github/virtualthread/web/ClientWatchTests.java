package io.github.virtualthread.web;

import static io.github.virtualthread.web.ClientWatch.PERIOD_NANOS;
import static io.github.virtualthread.web.ClientWatch.YOUNG_NANOS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.web.ClientWatch.Client;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.web.filter.ForwardedHeaderFilter;

/** Who has gone, by one look at the table after the other. */
@Timeout(300)
class ClientWatchTests {

    private static final int LOCAL = 8080;
    private static final int REMOTE = 50_000;

    private final Path tcp;
    private final TcpTable table;

    /** When all requests of a test are old enough to be looked at. */
    private final long later = System.nanoTime() + Duration.ofHours(1).toNanos();

    ClientWatchTests(@TempDir Path folder) {
        tcp = folder.resolve("tcp");
        table = new TcpTable(List.of(tcp));
    }

    private static MockHttpServletRequest request(int remote) {
        MockHttpServletRequest request = new MockHttpServletRequest("GET", "/orders");
        request.setLocalPort(LOCAL);
        request.setRemotePort(remote);
        return request;
    }

    /** Its thread would look as well, at the real time. */
    private ClientWatch watch() throws IOException {
        Files.deleteIfExists(tcp);
        ClientWatch watch = new ClientWatch(table);
        assertThat(watch.isIdle()).isTrue();
        return watch;
    }

    /** Lines for the two ports: E is established, C closed by the client, - is none; one line per character. */
    private void write(String lines) throws IOException {
        StringBuilder text = new StringBuilder("  sl  local_address rem_address   st tx_queue rx_queue\n");
        lines.chars()
                .filter(line -> line != '-')
                .forEach(line -> text.append("   0: 0100007F:%04X 0100007F:%04X %s 00000000:00000000\n"
                        .formatted(LOCAL, REMOTE, line == 'E' ? "01" : "08")));
        Files.writeString(tcp, text);
    }

    /** What each look sees, and which look ends the request; none if empty. */
    @ParameterizedTest
    @CsvSource({
        "'C', 1", // before the first look
        "'E C', 2",
        "'E E E C', 4",
        "'E', ",
        "'E E E E', ",
        "'-', ", // never seen: ports that a proxy has invented
        "'- - - - -', ",
        "'- - C', 3",
        "'E -', ", // a line may be missing although its connection is there
        "'E - E - E', ",
        "'E - -', 3",
        "'E E - -', 4",
        "'- E - -', 4",
        "'E - E - -', 5",
        "'EC', ", // two clients with one port
        "'CE', ",
        "'EC E', ",
        "'EC C', 2",
        "'EC CC', 2",
        "'EE E - -', 4"
    })
    void whichLookEndsARequest(String looks, @Nullable Integer ends) throws IOException {
        ClientWatch watch = watch();
        Client client = watch.watch(request(REMOTE));
        int number = 0;
        for (String look : looks.split(" ")) {
            number++;
            write(look);
            watch.look(later);
            boolean isOver = ends != null && number >= ends;
            assertThat(client.calls.isClientGone()).as("after look %d", number).isEqualTo(isOver);
        }
    }

    @Test
    void aRequestThatIsYoungIsNotLookedAt() throws IOException {
        ClientWatch watch = watch();
        long before = System.nanoTime();
        Client client = watch.watch(request(REMOTE));
        long after = System.nanoTime();
        write("C");

        watch.look(before + YOUNG_NANOS - 1);
        assertThat(client.calls.isClientGone()).isFalse();

        watch.look(after + YOUNG_NANOS);
        assertThat(client.calls.isClientGone()).isTrue();
    }

    @Test
    void aRequestThatHasEndedIsNotCancelled() throws IOException {
        ClientWatch watch = watch();
        Client client = watch.watch(request(REMOTE));
        client.end();
        write("C");

        watch.look(later);

        assertThat(client.calls.isClientGone()).isFalse();
    }

    @Test
    void eachRequestOfAConnectionEndsAndNoOther() throws IOException {
        ClientWatch watch = watch();
        Client first = watch.watch(request(REMOTE));
        Client second = watch.watch(request(REMOTE));
        Client other = watch.watch(request(REMOTE + 1));
        write("C");

        watch.look(later);
        watch.look(later);

        assertThat(first.calls.isClientGone()).isTrue();
        assertThat(second.calls.isClientGone()).isTrue();
        assertThat(other.calls.isClientGone()).isFalse();
    }

    @Test
    void aLookThatFailsIsNoLook() throws IOException {
        ClientWatch watch = watch();
        Client client = watch.watch(request(REMOTE));
        write("E");
        watch.look(later);
        Files.delete(tcp);
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> watch.look(later)).isInstanceOf(IOException.class);
        }
        write("-");

        watch.look(later);
        assertThat(client.calls.isClientGone()).isFalse();
        watch.look(later);
        assertThat(client.calls.isClientGone()).isTrue();
    }

    /** A forwarded port is that of the proxy's client. */
    @Test
    void thePortsAreThoseOfTheConnection() throws Exception {
        ClientWatch watch = watch();
        MockHttpServletRequest request = request(REMOTE);
        request.addHeader("Forwarded", "for=\"192.0.2.1:1234\"");
        Client[] client = new Client[1];
        new ForwardedHeaderFilter()
                .doFilter(request, new org.springframework.mock.web.MockHttpServletResponse(), (wrapped, response) -> {
                    assertThat(wrapped.getRemotePort()).isEqualTo(1234);
                    client[0] = watch.watch(wrapped);
                });
        write("C");

        watch.look(later);

        assertThat(client[0].calls.isClientGone()).isTrue();
    }

    /** A reset connection has no line any more: it counts only if it was there at a look before. */
    @Test
    void aYoungRequestIsLookedAtTogetherWithAnOldOne() throws IOException {
        ClientWatch watch = watch();
        watch.watch(request(REMOTE + 1));
        long old = System.nanoTime() + YOUNG_NANOS;
        Client young = watch.watch(request(REMOTE));
        write("E");

        assertThat(watch.look(old)).isTrue();
        write("-");
        assertThat(watch.look(old)).isTrue();
        assertThat(watch.look(old)).isTrue();

        assertThat(young.calls.isClientGone()).isTrue();
    }

    @Test
    void aLookWithoutTheTableIsNone() throws IOException {
        ClientWatch watch = watch();
        assertThat(watch.look(later)).isFalse();
    }

    @Test
    void itPausesTwentyTimesAsLongAsItLooks() throws IOException {
        ClientWatch watch = watch();

        assertThat(watch.pause(5 * PERIOD_NANOS)).as("the first look is cold").isEqualTo(PERIOD_NANOS);
        assertThat(watch.pause(PERIOD_NANOS / 100)).isEqualTo(PERIOD_NANOS);
        assertThat(watch.pause(PERIOD_NANOS / 20)).isEqualTo(PERIOD_NANOS);
        assertThat(watch.pause(PERIOD_NANOS / 10)).isEqualTo(PERIOD_NANOS);
        assertThat(watch.pause(PERIOD_NANOS / 10)).isEqualTo(2 * PERIOD_NANOS);
        assertThat(watch.pause(PERIOD_NANOS)).isEqualTo(2 * PERIOD_NANOS);
        assertThat(watch.pause(PERIOD_NANOS)).isEqualTo(20 * PERIOD_NANOS);
        assertThat(watch.pause(1)).isEqualTo(PERIOD_NANOS);
    }

    @Test
    void withoutATableNoThreadLooks() {
        ClientWatch watch = new ClientWatch(table);

        Client client = watch.begin(request(REMOTE));

        assertThat(watch.isIdle()).isTrue();
        client.end();
    }

    @Tag("slow")
    @Test
    void aThreadLooksWhileThereAreRequests() throws IOException {
        write("E");
        ClientWatch watch = new ClientWatch(table);
        assertThat(watch.isIdle()).isTrue();
        Client stays = watch.begin(request(REMOTE));
        Client goes = watch.begin(request(REMOTE));
        assertThat(watch.isIdle()).isFalse();
        goes.end();
        write("C");

        await().atMost(Duration.ofMinutes(2)).until(stays.calls::isClientGone);
        assertThat(goes.calls.isClientGone()).isFalse();
        await().atMost(Duration.ofMinutes(2)).until(watch::isIdle);

        Client next = watch.begin(request(REMOTE));
        await().atMost(Duration.ofMinutes(2)).until(next.calls::isClientGone);
    }
}
