package io.github.virtualthread.web;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.TaskLimit.KeyUse;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/** Which key a request has at the door. What keys do is tested with the limit. */
@Timeout(300)
class DoorKeyTests {

    @Test
    void aRequestWhoseKeyFailsFailsAndTakesNoPermit() {
        DoorApplication.run(OfUsers.class, it -> {
            assertThat(it.get("/plain", "user", "broken").statusCode()).isEqualTo(500);
            assertThat(it.limit().completed()).isZero();
            assertThat(it.get("/plain", "user", "a").statusCode()).isEqualTo(200);
            it.awaitFree();
        });
    }

    /** The first address is what the client has sent, the second what its proxy has added. */
    @ParameterizedTest
    @CsvSource({"none, 127.0.0.1", "native, 203.0.113.7", "framework, 198.51.100.1"})
    void theAddressOfTheClientIsThatOfTheServer(String strategy, String address) {
        DoorApplication.RUNNER
                .withUserConfiguration(Holding.class)
                .withPropertyValues(
                        "server.forward-headers-strategy=" + strategy, "virtual-thread.web.key=client-address")
                .run(context -> assertThat(
                                keysOf(new DoorApplication(context), "X-Forwarded-For", "198.51.100.1, 203.0.113.7"))
                        .containsExactly(address));
    }

    @Test
    void aBeanWinsOverTheProperty() {
        DoorApplication.run(
                OfUsers.class,
                it -> assertThat(keysOf(it, "user", "a")).containsExactly("a"),
                "web.key=client-address");
    }

    @Test
    void aRequestMayHaveNoKey() {
        DoorApplication.run(
                OfUsers.class, it -> assertThat(keysOf(it, "user", "nobody")).isEmpty());
    }

    private static List<String> keysOf(DoorApplication it, String... headers) throws Exception {
        Holding holding = it.bean(Holding.class);
        CompletableFuture<HttpResponse<String>> answer = it.ask("/hold/a", headers);
        holding.awaitBegun("a");
        List<KeyUse> keys = it.limit().busiestKeys(2);
        holding.release("a");
        assertThat(answer.get(2, MINUTES).statusCode()).isEqualTo(200);
        return keys.stream().map(KeyUse::key).toList();
    }

    @Import(Holding.class)
    static class OfUsers {

        @Bean
        RequestKey requestKey() {
            return request -> {
                String user = request.getHeader("user");
                if (user.equals("broken")) {
                    throw new ResponseStatusException(HttpStatus.BAD_REQUEST);
                }
                return user.equals("nobody") ? null : new StringBuilder(user);
            };
        }
    }
}
