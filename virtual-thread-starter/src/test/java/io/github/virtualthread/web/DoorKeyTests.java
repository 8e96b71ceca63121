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

/** Turns among users at the door. */
@Timeout(300)
class DoorKeyTests {

    @Test
    void usersTakeTurns() {
        DoorApplication.run(
                OfUsers.class,
                it -> {
                    Holding holding = it.bean(Holding.class);
                    holding.release("a1", "a2", "a3", "b1", "none");
                    CompletableFuture<?> first = it.ask("/hold/a0", "user", "a");
                    holding.awaitBegun("a0");
                    String[][] users = {{"a1", "a"}, {"a2", "a"}, {"a3", "a"}, {"b1", "b"}, {"none", "nobody"}};
                    for (int i = 0; i < users.length; i++) {
                        CompletableFuture<?> unused = it.ask("/hold/" + users[i][0], "user", users[i][1]);
                        it.awaitWaiting(i + 1);
                    }

                    holding.release("a0");

                    assertThat(first).succeedsWithin(2, MINUTES);
                    it.awaitFree();
                    // one of a, then b and those without a key, before the rest of a
                    assertThat(holding.begun()).containsSubsequence("a1", "b1", "a2", "a3");
                    assertThat(holding.begun()).containsSubsequence("a1", "none", "a2", "a3");
                },
                "limits.web.permits=1",
                "limits.web.queue-capacity=10");
    }

    @Test
    void aUserHasOnlySoManyPermits() {
        DoorApplication.run(
                OfUsers.class,
                it -> {
                    Holding holding = it.bean(Holding.class);
                    CompletableFuture<HttpResponse<String>> first = it.ask("/hold/a0", "user", "a");
                    holding.awaitBegun("a0");
                    CompletableFuture<HttpResponse<String>> second = it.ask("/hold/a1", "user", "a");
                    it.awaitWaiting(1);

                    assertThat(it.get("/plain", "user", "b").statusCode()).isEqualTo(200);
                    assertThat(holding.begun()).containsExactly("a0");

                    holding.release("a0", "a1");
                    assertThat(first.get(2, MINUTES).statusCode()).isEqualTo(200);
                    assertThat(second.get(2, MINUTES).statusCode()).isEqualTo(200);
                    it.awaitFree();
                },
                "limits.web.permits-per-key=1");
    }

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
                                keyOf(new DoorApplication(context), "X-Forwarded-For", "198.51.100.1, 203.0.113.7"))
                        .isEqualTo(address));
    }

    @Test
    void aBeanWinsOverTheProperty() {
        DoorApplication.run(
                OfUsers.class, it -> assertThat(keyOf(it, "user", "a")).isEqualTo("a"), "web.key=client-address");
    }

    private static String keyOf(DoorApplication it, String... headers) throws Exception {
        Holding holding = it.bean(Holding.class);
        CompletableFuture<HttpResponse<String>> answer = it.ask("/hold/a", headers);
        holding.awaitBegun("a");
        List<KeyUse> keys = it.limit().busiestKeys(2);
        holding.release("a");
        assertThat(answer.get(2, MINUTES).statusCode()).isEqualTo(200);
        assertThat(keys).hasSize(1);
        return keys.get(0).key();
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
