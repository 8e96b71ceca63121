package com.acme.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** Why the page says not to set {@code republish-outstanding-events-on-restart}. */
@Timeout(300)
class RepublishTests {

    private static final int ORDERS = 3;
    private static final String STALENESS = "spring.modulith.events.staleness.";
    private static final Map<String, String> REPUBLISH =
            Map.of("spring.modulith.events.republish-outstanding-events-on-restart", "true");

    private final Postgres database = Postgres.database("republished");

    @Test
    void theSecondRestartLeavesWhatTheFirstHasRepublished() throws Exception {
        try (ConfigurableApplicationContext first = start(Blocked.class, Map.of())) {
            for (int number = 0; number < ORDERS; number++) {
                first.getBean(Orders.class).place(number);
            }
            awaitABody(first);
        }
        assertThat(events()).containsExactly("FAILED 1", "PUBLISHED 1", "PUBLISHED 1");

        try (ConfigurableApplicationContext second = start(Blocked.class, REPUBLISH)) {
            awaitABody(second);
        }
        assertThat(events()).containsExactly("FAILED 2", "RESUBMITTED 2", "RESUBMITTED 2");

        try (ConfigurableApplicationContext third = start(Blocked.class, REPUBLISH)) {
            awaitABody(third);
        }
        assertThat(events()).containsExactly("FAILED 3", "RESUBMITTED 2", "RESUBMITTED 2");

        Map<String, String> stale = Map.of(
                "replica",
                "one",
                "shop.resubmit-every",
                "100ms",
                STALENESS + "resubmitted",
                "1ms",
                STALENESS + "check-interval",
                "100ms");
        try (ConfigurableApplicationContext fourth = start(CountingMailServer.class, stale)) {
            await().atMost(Duration.ofMinutes(2)).until(() -> database.count("mails") == ORDERS);
        }
    }

    /** With one permit, so one body runs. The others wait until the context is closed, which drops them. */
    private ConfigurableApplicationContext start(Class<? extends MailServer> mailServer, Map<String, String> more) {
        Map<String, String> properties = new HashMap<>(Map.of(
                "spring.datasource.url",
                database.url(),
                "shop.resubmit-every",
                "1h",
                "virtual-thread.limits.mail.permits",
                "1",
                "virtual-thread.shutdown.await-termination-period",
                "0s",
                STALENESS + "published",
                "0s",
                STALENESS + "processing",
                "0s",
                STALENESS + "resubmitted",
                "0s"));
        properties.putAll(more);
        return new SpringApplicationBuilder(ShopApplication.class, mailServer)
                .run(properties.entrySet().stream()
                        .map(property -> "--" + property.getKey() + "=" + property.getValue())
                        .toArray(String[]::new));
    }

    private static void awaitABody(ConfigurableApplicationContext context) throws InterruptedException {
        assertThat(context.getBean(Blocked.class).begun.await(2, TimeUnit.MINUTES))
                .isTrue();
    }

    /** The status of each event and how often it was published. */
    private List<String> events() {
        return database.jdbc()
                .queryForList(
                        "select status || ' ' || completion_attempts as event from event_publication order by event",
                        String.class);
    }

    /** Its first mail takes until the application stops. */
    static class Blocked implements MailServer {

        private final CountDownLatch begun = new CountDownLatch(1);

        @Override
        public void send(int number) {
            begun.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException stopped) {
                throw new IllegalStateException(stopped);
            }
        }
    }
}
