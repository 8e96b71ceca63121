package com.acme.shop;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Services that call each other: each has what is left of the time of the first. */
@Timeout(300)
class DoorDeadlineTests {

    private static final String HEADER = "X-Request-Timeout-Ms";
    private static final String[] CHAIN = {
        "virtual-thread.limits.web.permits=20",
        "virtual-thread.web.deadline=10m",
        "virtual-thread.web.deadline-header=" + HEADER,
        "virtual-thread.client.deadline-header=" + HEADER
    };

    @Test
    void eachServiceHasWhatIsLeftOfTheTimeOfTheFirst() throws Exception {
        try (Shop shop = new Shop(with("virtual-thread.client.deadline-hosts=localhost"))) {
            assertThat(left(shop, "300000"))
                    .hasSize(4)
                    .isSortedAccordingTo(Comparator.reverseOrder())
                    .allSatisfy(milliseconds -> assertThat(milliseconds).isBetween(1L, 300_000L));
        }
    }

    /** The deadline of the second service is its own then: it begins anew. */
    @Test
    void aHostThatIsNotNamedIsNotTold() throws Exception {
        try (Shop shop = new Shop(with("virtual-thread.client.deadline-hosts=reviews"))) {
            List<Long> left = left(shop, "100000");

            assertThat(left.get(0)).isLessThanOrEqualTo(100_000);
            assertThat(left.subList(1, 4))
                    .allSatisfy(milliseconds -> assertThat(milliseconds).isBetween(300_000L, 600_000L));
        }
    }

    private static String[] with(String hosts) {
        return Stream.concat(Stream.of(CHAIN), Stream.of(hosts)).toArray(String[]::new);
    }

    private static List<Long> left(Shop shop, String sent) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:%d/relay/3".formatted(shop.port())))
                .header(HEADER, sent)
                .build();
        try (HttpClient client = HttpClient.newHttpClient()) {
            String answer = client.send(request, BodyHandlers.ofString()).body();
            return Stream.of(answer.strip().split(" ")).map(Long::valueOf).toList();
        }
    }
}
