package io.github.virtualthread.cluster.jdbc;

import io.github.virtualthread.cluster.Answer;
import io.github.virtualthread.cluster.Claim;
import io.github.virtualthread.cluster.LimitLedger;
import io.github.virtualthread.cluster.jdbc.LimitTable.Reading;
import io.github.virtualthread.cluster.jdbc.LimitTable.Row;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * The claims of one member: reads the limits, and writes each of them if nobody has written it meanwhile; otherwise it reads that
 * limit again. So nobody waits for another member, wherever that stands still.
 */
final class Exchange {

    private static final int ATTEMPTS = 20;

    /** A lock of somebody else: of H2, and of MariaDB and MySQL. */
    private static final String LOCKED = "HYT00";

    private static final int LOCKED_CODE = 1205;

    private final LimitTable table;
    private final String name;
    private final boolean mayBeLost;
    private final long begun;

    /**
     * Creates an exchange.
     *
     * @param name of the table and the cluster, for messages
     * @param mayBeLost whether a limit without a row may be one that has lost it
     * @param begun by the clock of this JVM, when the claims were made
     */
    Exchange(LimitTable table, String name, boolean mayBeLost, long begun) {
        this.table = table;
        this.name = name;
        this.mayBeLost = mayBeLost;
        this.begun = begun;
    }

    /** What was read, and how long after the claims were made. */
    private record Look(Reading reading, Duration late) {}

    List<Answer> lend(List<Claim> claims) throws SQLException, InterruptedException {
        Look all = look(claims.stream().map(Claim::limit).toList());
        List<Answer> answers = new ArrayList<>();
        for (Claim claim : claims) {
            answers.add(lend(claim, all));
        }
        return answers;
    }

    /** Isolation may be such that the database refuses even to read, now and then. */
    private Look look(List<String> limits) throws SQLException, InterruptedException {
        for (int attempt = 1; ; attempt++) {
            try {
                Duration late = Duration.ofNanos(System.nanoTime() - begun);
                return new Look(table.read(limits), late);
            } catch (SQLException failure) {
                if (!isConflict(failure) || attempt == ATTEMPTS) {
                    throw failure;
                }
                pause(attempt);
            }
        }
    }

    private Answer lend(Claim claim, Look first) throws SQLException, InterruptedException {
        Look look = first;
        for (int attempt = 1; ; attempt++) {
            Answer answer = tried(claim, look);
            if (answer != null) {
                return answer;
            }
            if (attempt == ATTEMPTS) {
                return Answer.refused("Claim " + claim.number() + " of member '" + claim.member() + "' for limit '"
                        + claim.limit() + "' was refused: in " + ATTEMPTS + " attempts the row in " + name
                        + " was changed by others each time. The next claim may find it free; if this is repeated, too"
                        + " many replicas share the limit: set virtual-thread.cluster.beat to more, or use Redis");
            }
            pause(attempt);
            look = look(List.of(claim.limit()));
        }
    }

    /** Null if another member has written the row meanwhile. */
    private @Nullable Answer tried(Claim claim, Look look) throws SQLException {
        Row row = look.reading.row(claim.limit());
        LimitLedger ledger;
        try {
            ledger = row == null ? new LimitLedger(mayBeLost) : LimitLedger.of(row.text());
        } catch (IllegalArgumentException strange) {
            return Answer.refused("Limit '" + claim.limit() + "' cannot be lent: its ledger in " + name + " "
                    + strange.getMessage() + ". Delete that row while no replica of another version runs");
        }
        Answer answer = ledger.lend(claim, look.reading.now, look.reading.server, look.late);
        if (answer.refusal() != null || (row == null && ledger.isEmpty())) {
            return answer;
        }
        String text = ledger.text();
        if (row != null && row.text().equals(text)) {
            return answer;
        }
        try {
            return table.write(claim.limit(), row, text) ? answer : null;
        } catch (SQLException failure) {
            if (isConflict(failure)) {
                return null;
            }
            if (isOfThisRow(failure)) {
                return Answer.refused("Limit '" + claim.limit() + "' could not be stored in " + name + ": "
                        + failure.getMessage()
                        + ". Look for who locks its row, and compare the table with the schema of the starter");
            }
            throw failure;
        }
    }

    /** Another member was faster: it has inserted the row, or changed it. Nothing is stored. */
    private static boolean isConflict(SQLException failure) {
        String state = failure.getSQLState();
        return state != null && (state.startsWith("23") || state.startsWith("40") || state.equals("90131"));
    }

    private static boolean isOfThisRow(SQLException failure) {
        String state = failure.getSQLState();
        return failure.getErrorCode() == LOCKED_CODE
                || (state != null && (state.equals(LOCKED) || state.startsWith("22")));
    }

    /** Of many members that meet, each chooses another time to come again. */
    private static void pause(int attempt) throws InterruptedException {
        Thread.sleep(Duration.ofNanos(ThreadLocalRandom.current().nextLong(1_000_000L << Math.min(attempt, 6))));
    }
}
