package com.acme.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** Why the page says not to rely on a restart, and to set all durations: when Modulith changes, the page has to. */
@Timeout(600)
class RepublishTests {

    private static final int ORDERS = 3;
    private static final Duration LONG = Duration.ofMinutes(2);
    private static final String STALENESS = "--spring.modulith.events.staleness.";
    private static final String REPUBLISH = "--spring.modulith.events.republish-outstanding-events-on-restart=true";

    private final Postgres database = Postgres.database("republished");

    @Test
    void theSecondRestartLeavesWhatTheFirstHasRepublished() throws Exception {
        try (ConfigurableApplicationContext first = start(Blocked.class)) {
            placeOrders(first);
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

        ConfigurableApplicationContext fourth = start(
                CountingMailServer.class,
                "--replica=one",
                "--shop.resubmit-every=100ms",
                STALENESS + "resubmitted=1ms");
        try (fourth) {
            await().atMost(LONG).until(() -> database.count("mails") == ORDERS);
        }
    }

    @Test
    void whatHasNoDurationIsStaleAtOnceIfAnotherHasOne() throws Exception {
        try (ConfigurableApplicationContext context = start(Blocked.class, STALENESS + "resubmitted=1h")) {
            placeOrders(context);
            awaitABody(context);

            await().atMost(LONG)
                    .untilAsserted(() -> assertThat(events()).containsExactly("FAILED 1", "FAILED 1", "FAILED 1"));
        }
    }

    private ConfigurableApplicationContext start(Class<? extends MailServer> mailServer, String... more) {
        List<String> arguments = new ArrayList<>(List.of(more));
        arguments.add("--spring.profiles.active=republish");
        arguments.add("--spring.datasource.url=" + database.url());
        return new SpringApplicationBuilder(ShopApplication.class, mailServer).run(arguments.toArray(String[]::new));
    }

    private static void placeOrders(ConfigurableApplicationContext context) {
        for (int number = 0; number < ORDERS; number++) {
            context.getBean(Orders.class).place(number);
        }
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
