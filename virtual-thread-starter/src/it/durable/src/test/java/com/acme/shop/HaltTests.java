package com.acme.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.acme.shop.CountingMailServer.Halt;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Replicas that are halted, killed and stopped while calls wait, and started again. */
@Timeout(1000)
class HaltTests {

    private static final int ORDERS = Integer.getInteger("orders");
    private static final Duration LONG = Duration.ofMinutes(10);
    private static final String OUTSTANDING = "event_publication where status <> 'COMPLETED'";

    private final Postgres database = Postgres.database("halts");

    @Test
    void eachOrderIsConfirmedOnceAndNeverMoreAtOnceThanTheLimitHasPermits(@TempDir Path folder) throws Exception {
        long begin = System.nanoTime();
        try (ReplicaProcess one = new ReplicaProcess("one", folder, database, 0, ORDERS / 2);
                ReplicaProcess two = new ReplicaProcess("two", folder, database, ORDERS / 2, ORDERS)) {
            one.start(Halt.IN_THE_BODY, ORDERS / 20);
            two.start(Halt.AFTER_THE_COMMIT, ORDERS / 10);

            one.awaitHalt();
            int atTheFirst = outstanding();
            one.start();
            two.awaitHalt();
            int atTheSecond = outstanding();
            two.start();
            awaitMails(ORDERS / 2);
            one.kill();
            int atTheThird = outstanding();
            one.start();
            awaitMails(ORDERS * 3 / 4);
            two.stop();
            int atTheStop = outstanding();
            two.start();

            await().atMost(LONG)
                    .until(() -> !one.isAlive()
                            || !two.isAlive()
                            || database.count("mails") >= ORDERS && outstanding() == 0);
            one.stop();
            two.stop();
            long seconds = Duration.ofNanos(System.nanoTime() - begin).toSeconds();
            long rejected = one.lines("REJECTED QUEUE_FULL") + two.lines("REJECTED QUEUE_FULL");
            System.out.printf(
                    "%d orders, %d attempts, %d rejected, at most %s at once; %d, %d and %d outstanding at the halts,"
                            + " %d at the stop; %d s%n",
                    database.count("orders"),
                    database.jdbc()
                            .queryForObject("select sum(completion_attempts) from event_publication", Integer.class),
                    rejected,
                    database.mostAtOnce(),
                    atTheFirst,
                    atTheSecond,
                    atTheThird,
                    atTheStop,
                    seconds);

            assertThat(database.count("orders")).isEqualTo(ORDERS);
            assertThat(database.count("mails")).isEqualTo(ORDERS);
            assertThat(database.count("(select distinct number from mails) different"))
                    .isEqualTo(ORDERS);
            assertThat(database.mostAtOnce()).containsExactly(CountingMailServer.PERMITS, CountingMailServer.PERMITS);
            assertThat(rejected).isPositive();
            assertThat(atTheFirst).isPositive();
            assertThat(atTheSecond).isPositive();
            assertThat(atTheThird).isPositive();
        }
    }

    private int outstanding() {
        return database.count(OUTSTANDING);
    }

    private void awaitMails(int mails) {
        await().atMost(LONG).until(() -> database.count("mails") >= mails);
    }
}
