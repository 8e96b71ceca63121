package io.github.virtualthread.cluster;

import io.github.virtualthread.Internal;
import io.github.virtualthread.cluster.ClusterStore.Session;
import io.github.virtualthread.cluster.ClusterStore.Snapshot;
import io.github.virtualthread.cluster.ClusterStore.Text;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * The rules for any store: reads the limits of the claims, and replaces the text of each unless another member has done so meanwhile;
 * otherwise it reads that limit again. So nobody waits for another member, wherever that stands still.
 *
 * @param store keeps the texts; messages name it by its {@code toString}
 */
@Internal
public record StoredLimits(ClusterStore store) implements ClusterEngine {

    private static final int ATTEMPTS = 20;
    private static final Text NONE = new Text(0, "");

    @Override
    public List<Answer> exchange(List<Claim> claims) throws Exception {
        long begun = System.nanoTime();
        Map<String, Answer> answers = new HashMap<>();
        try (Session session = given(store.open(), "open returned null")) {
            List<Claim> left = claims;
            for (int attempt = 1; attempt <= ATTEMPTS && !left.isEmpty(); attempt++) {
                if (attempt > 1) {
                    pause(attempt);
                }
                left = tried(left, session, begun, answers);
            }
            left.forEach(claim -> answers.put(claim.limit(), Answer.refused(tooMany(claim))));
        }
        return claims.stream()
                .map(claim -> Objects.requireNonNull(answers.get(claim.limit())))
                .toList();
    }

    @Override
    public Duration beat() {
        return store.beat();
    }

    /** Returns the claims of limits that others have replaced meanwhile. */
    private List<Claim> tried(List<Claim> claims, Session session, long begun, Map<String, Answer> answers)
            throws Exception {
        Duration late = Duration.ofNanos(System.nanoTime() - begun);
        Snapshot snapshot = given(session.read(claims.stream().map(Claim::limit).toList()), "read returned null");
        given(snapshot.server(), "read returned a server that is null");
        Map<String, Text> texts = new LinkedHashMap<>(); // in the order of the claims
        for (Claim claim : claims) {
            answers.put(claim.limit(), lend(claim, snapshot, late, texts));
        }
        Map<String, String> failed =
                texts.isEmpty() ? Map.of() : given(session.replace(texts), "replace returned null");
        failed.forEach((limit, why) -> answers.put(limit, Answer.refused(notStored(limit, why))));
        return claims.stream()
                .filter(claim -> "".equals(failed.get(claim.limit())))
                .toList();
    }

    private Answer lend(Claim claim, Snapshot snapshot, Duration late, Map<String, Text> texts) {
        String isNull = "read returned null as the text of limit '" + claim.limit() + "'";
        Text before = given(snapshot.texts().getOrDefault(claim.limit(), NONE), isNull);
        given(before.text(), isNull);
        LimitLedger ledger;
        try {
            ledger = before.version() == 0 ? new LimitLedger(snapshot.isShared()) : LimitLedger.of(before.text());
        } catch (IllegalArgumentException strange) {
            return Answer.refused("Limit '" + claim.limit() + "' cannot be lent: its ledger in " + store + " "
                    + strange.getMessage() + ". Delete it while no replica of another version runs");
        }
        Answer answer = ledger.lend(claim, snapshot.now(), snapshot.server(), late);
        String text = ledger.text();
        boolean isStored =
                before.version() == 0 ? ledger.isEmpty() : before.text().equals(text);
        if (answer.refusal() == null && !isStored) {
            texts.put(claim.limit(), new Text(before.version(), text));
        }
        return answer;
    }

    /** A store of an application may forget what no compiler has told it. */
    private <T> T given(@Nullable T value, String otherwise) {
        if (value == null) {
            throw new IllegalStateException(store.getClass().getName() + ": " + otherwise
                    + ". Let it return what ClusterStore says, or throw an exception if the server cannot be reached;"
                    + " ClusterStoreContract of the test kit shows what is wrong");
        }
        return value;
    }

    private String notStored(String limit, String why) {
        return "Limit '" + limit + "' could not be stored in " + store + ": " + why;
    }

    private String tooMany(Claim claim) {
        return "Claim " + claim.number() + " of member '" + claim.member() + "' for limit '" + claim.limit()
                + "' was refused: in " + ATTEMPTS + " attempts its ledger in " + store
                + " was changed by others each time. The next claim may find it free; if this is repeated, too many"
                + " replicas share the limit: set virtual-thread.cluster.beat to more, or use Redis";
    }

    /** Of many members that meet, each chooses another time to come again. */
    private static void pause(int attempt) throws InterruptedException {
        Thread.sleep(Duration.ofNanos(ThreadLocalRandom.current().nextLong(1_000_000L << Math.min(attempt, 6))));
    }
}
