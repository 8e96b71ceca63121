package com.acme.shop;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.TaskLimit.Occupation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Actuator on a port of its own; some of its probes are on the port of the application nevertheless. */
@Timeout(300)
class OwnManagementPortTests {

    @Test
    void whatTellsAboutTheApplicationIsAnsweredWhileTheLimitIsFull() throws Exception {
        try (Shop shop = new Shop("management.server.port=0")) {
            assertThat(shop.managementPort()).isNotEqualTo(shop.port());
            try (Occupation occupation = shop.web.occupy()) {
                assertThat(status(shop.managementPort(), "/actuator/health")).isEqualTo(200);
                assertThat(status(shop.managementPort(), "/actuator/health/edge"))
                        .isEqualTo(200);
                assertThat(status(shop.port(), "/edgez")).isEqualTo(200);
                assertThat(status(shop.port(), "/livez")).isEqualTo(200);
                assertThat(status(shop.port(), "/readyz")).isEqualTo(200);
            }
            assertThat(shop.ledger.submitted).hasValue(0);
            assertThat(shop.get("/plain").status()).isEqualTo(200);
            assertThat(shop.ledger.submitted).hasValue(1);
        }
    }

    private static int status(int port, String path) throws Exception {
        return Exchange.send(port, path).read().status();
    }
}
