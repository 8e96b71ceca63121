package io.github.virtualthread.sample.lab.experiment;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/** Queries of H2 that keep their connection until a test lets them go, and then take their time. H2 calls it as a function. */
public final class HeldQueries {

    /** The setting that has the experiment use it. */
    static final String QUERY = "scarce.query=call held(%d)";

    private static volatile CountDownLatch hold = new CountDownLatch(0);

    private HeldQueries() {}

    static void makeKnownTo(DataSource database) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("create alias if not exists held for '%s.query'".formatted(HeldQueries.class.getName()));
        }
    }

    /** From now on a query waits. */
    static void hold() {
        letGo();
        hold = new CountDownLatch(1);
    }

    /** All that wait, and those to come. */
    static void letGo() {
        hold.countDown();
    }

    /** Public for H2. */
    public static void query(long millis) throws InterruptedException {
        if (!hold.await(2, TimeUnit.MINUTES)) {
            throw new IllegalStateException("Nobody lets the query go");
        }
        Thread.sleep(millis);
    }
}
