package com.acme.queries;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.acme.queries.Calls.Query;
import io.github.virtualthread.execution.Deadline;
import io.github.virtualthread.execution.TaskListener.StatementOutcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.convert.DurationStyle;

/**
 * Three waves of four slow queries, which are stopped while the database runs them, and the database asked how many it runs.
 *
 * <p>With MariaDB, a KILL of one of several queries in {@code sleep()} may wait two seconds in the server, and may then be missed: the
 * queries share a lock there, which {@code THD::awake} tries to get for so long. It is sent again.
 */
@Timeout(600)
class WaveTests {

    private static final int WAVES = 3;
    private static final int SECONDS = 120;
    private static final int UNSEEN = -1;

    private static final AtomicInteger numbers = new AtomicInteger();
    private static final Map<Database, Shop> shops = new EnumMap<>(Database.class);

    enum Stop {
        TIMEOUT,
        DEADLINE,
        CANCEL,
        DELETE
    }

    enum Work {
        SLEEP,
        JOIN
    }

    private static Stream<Arguments> works() {
        return Stream.of(
                Arguments.of(Database.POSTGRES, Work.SLEEP),
                Arguments.of(Database.MARIADB, Work.SLEEP),
                Arguments.of(Database.MARIADB, Work.JOIN));
    }

    private static Stream<Arguments> rows() {
        return works().flatMap(each -> Stream.of(false, true).flatMap(transactional -> Stream.of(Stop.values())
                .filter(stop -> !transactional || stop != Stop.DEADLINE) // it stops as a timeout does
                .map(stop -> Arguments.of(each.get()[0], each.get()[1], transactional, stop))));
    }

    private static Stream<Arguments> rowsOfStops() {
        return works().flatMap(each ->
                Stream.of(false, true).map(transactional -> Arguments.of(each.get()[0], each.get()[1], transactional)));
    }

    @AfterAll
    static void closeShops() {
        shops.values().forEach(Shop::close);
    }

    private static Shop shop(Database database) {
        return shops.computeIfAbsent(database, Shop::openWithEndpoint);
    }

    @Test
    void theLinesAreThoseThatTheBuildAsksFor() {
        assertThat(SpringBootVersion.getVersion()).isEqualTo(System.getProperty("expected.spring-boot"));
        String java = System.getProperty("expected.java");
        if (java != null && !java.isEmpty()) {
            assertThat(Runtime.version().feature()).isEqualTo(Integer.parseInt(java));
        }
    }

    @ParameterizedTest(name = "{0}, {1}, transactional {2}: {3}")
    @MethodSource("rows")
    void noMoreQueriesInTheServerThanPermits(Database database, Work work, boolean transactional, Stop stop)
            throws Exception {
        Shop shop = shop(database);
        shop.calls.forget();
        Set<Long> before = shop.sessions();

        int atOnce = stopAll(shop, work, transactional, stop, Calls.TIMEOUT);
        if (atOnce == UNSEEN) { // the machine is slow at that moment
            shop.calls.forget();
            before = shop.sessions();
            atOnce = stopAll(shop, work, transactional, stop, Calls.LONG_TIMEOUT);
        }
        Set<Long> first = before;
        Set<Long> after = shop.sessions();
        long lost = first.stream().filter(each -> !after.contains(each)).count();
        tell(shop, work, transactional, stop.name(), atOnce, lost + " of 4");

        assertThat(shop.calls.outcomes()).doesNotContainKeys(StatementOutcome.INTERRUPTED, StatementOutcome.ABORTED);
        assertThat(atOnce).isEqualTo(Shop.POOL);
        assertThat(shop.calls.stillThere()).isEmpty();
        assertThat(lost).isZero();
        assertThat(after).hasSize(Shop.POOL);
        assertThat(shop.calls.slowest()).isLessThan(60_000);
        assertThat(shop.jdbc.queryForObject("select count(*) from sold", Integer.class))
                .isZero();
    }

    /** The most queries at once; or {@link #UNSEEN}, if the time of a call may have passed before the server had its query. */
    private static int stopAll(Shop shop, Work work, boolean transactional, Stop stop, String timeout)
            throws Exception {
        try (Watch watch = new Watch(shop.database, numbers.get())) {
            if (stop == Stop.TIMEOUT || stop == Stop.DEADLINE) {
                letTimePass(shop, work, transactional, stop == Stop.DEADLINE, timeout);
                if (watch.seen() < WAVES * Shop.POOL) {
                    return UNSEEN;
                }
            } else {
                stopByHand(shop, watch, work, transactional, stop);
            }
            shop.awaitAllPermits();
            await().atMost(Shop.LONG).until(() -> shop.calls.ended() >= WAVES * Shop.POOL);
            return watch.mostAtOnce();
        }
    }

    private static void letTimePass(Shop shop, Work work, boolean transactional, boolean deadline, String timeout)
            throws Exception {
        Duration length = DurationStyle.detectAndParse(timeout);
        List<CompletableFuture<Void>> calls = new ArrayList<>();
        if (deadline) {
            for (int wave = 0; wave < WAVES; wave++) {
                calls.clear();
                List<Query> queries = queries(shop, work, Shop.POOL * 2); // half of them wait, until it has passed
                for (Query query : queries) {
                    calls.add(Deadline.call(length, () -> call(shop, query, transactional, null)));
                    shop.calls.stopsAt(query.number(), System.nanoTime() + length.toNanos());
                }
                calls.forEach(each -> assertThat(each).failsWithin(Shop.LONG));
                shop.awaitAllPermits();
            }
        } else {
            List<Query> queries = queries(shop, work, Shop.POOL * WAVES);
            queries.forEach(query -> calls.add(call(shop, query, transactional, timeout)));
            calls.forEach(each -> assertThat(each).failsWithin(Shop.LONG));
            shop.awaitAllPermits();
            queries.stream()
                    .filter(query -> shop.calls.hasBegun(query.number()))
                    .forEach(query ->
                            shop.calls.stopsAt(query.number(), shop.calls.begun(query.number()) + length.toNanos()));
        }
    }

    private static void stopByHand(Shop shop, Watch watch, Work work, boolean transactional, Stop stop)
            throws Exception {
        Map<Integer, CompletableFuture<Void>> calls = new LinkedHashMap<>();
        for (Query query : queries(shop, work, Shop.POOL * WAVES)) {
            calls.put(query.number(), call(shop, query, transactional, null));
        }
        for (int wave = 0; wave < WAVES; wave++) {
            List<Integer> running = await().atMost(Shop.LONG)
                    .pollInterval(Duration.ofMillis(2))
                    .until(
                            () -> watch.running().stream()
                                    .filter(number -> !shop.calls.isStopped(number))
                                    .toList(),
                            numbers -> numbers.size() == Shop.POOL);
            for (int number : running) {
                shop.calls.stops(number);
                if (stop == Stop.CANCEL) {
                    calls.get(number).cancel(true);
                } else {
                    shop.delete(shop.calls.id(number));
                }
            }
        }
        calls.values().forEach(each -> assertThat(each).failsWithin(Shop.LONG));
    }

    @ParameterizedTest(name = "{0}, {1}, transactional {2}")
    @MethodSource("rowsOfStops")
    void theStopOfTheApplicationLeavesNoQueryBehind(Database database, Work work, boolean transactional)
            throws Exception {
        int waves = transactional || (database == Database.MARIADB && work == Work.SLEEP) ? 1 : WAVES;
        try (Watch watch = new Watch(database, numbers.get())) {
            for (int wave = 0; wave < waves; wave++) {
                Shop shop = Shop.open(database, "virtual-thread.shutdown.await-termination-period=50ms");
                List<Query> queries = queries(shop, work, Shop.POOL * 2);
                queries.forEach(query -> call(shop, query, transactional, null));
                await().atMost(Shop.LONG)
                        .pollInterval(Duration.ofMillis(2))
                        .until(() -> watch.running().size() == Shop.POOL);
                queries.forEach(query -> shop.calls.stopsAt(query.number(), System.nanoTime() + 50_000_000));

                shop.close();

                await().atMost(Shop.LONG).until(() -> shop.calls.ended() == Shop.POOL);
                tell(shop, work, transactional, "STOP", watch.mostAtOnce(), "(pool closed)");
                if (database != Database.MARIADB || work != Work.SLEEP) {
                    assertThat(shop.calls.stillThere()).isEmpty();
                    assertThat(shop.calls.outcomes())
                            .doesNotContainKeys(StatementOutcome.INTERRUPTED, StatementOutcome.ABORTED);
                }
            }
            assertThat(watch.mostAtOnce()).isEqualTo(Shop.POOL);
        }
        try (Shop next = Shop.open(database)) {
            assertThat(next.jdbc.queryForObject("select count(*) from sold", Integer.class))
                    .isZero();
        }
    }

    /** So that the others can fail: what the watch sees without the property. */
    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    void moreQueriesInTheServerThanPermitsWhereBodiesAreInterrupted(Database database) throws Exception {
        try (Shop shop = Shop.openInterrupting(database);
                Watch watch = new Watch(database, numbers.get())) {
            List<CompletableFuture<Void>> calls = new ArrayList<>();
            queries(shop, Work.SLEEP, Shop.POOL * WAVES)
                    .forEach(query -> calls.add(call(shop, query, false, Calls.TIMEOUT)));

            calls.forEach(each -> assertThat(each).failsWithin(Shop.LONG));

            assertThat(watch.mostAtOnce()).isGreaterThan(Shop.POOL);
            database.endQueries();
            tell(shop, Work.SLEEP, false, "TIMEOUT, interrupted", watch.mostAtOnce(), "-");
        }
    }

    private static List<Query> queries(Shop shop, Work work, int number) {
        return Stream.generate(numbers::incrementAndGet)
                .limit(number)
                .map(each -> new Query(
                        each,
                        work == Work.SLEEP
                                ? shop.database.sleep(each.toString(), SECONDS)
                                : shop.database.join(each.toString())))
                .toList();
    }

    private static CompletableFuture<Void> call(Shop shop, Query query, boolean transactional, String timeout) {
        if (Calls.TIMEOUT.equals(timeout)) {
            return transactional ? shop.queries.transactionalWithTimeout(query) : shop.queries.plainWithTimeout(query);
        }
        if (Calls.LONG_TIMEOUT.equals(timeout)) {
            return transactional
                    ? shop.queries.transactionalWithLongTimeout(query)
                    : shop.queries.plainWithLongTimeout(query);
        }
        return transactional ? shop.queries.transactional(query) : shop.queries.plain(query);
    }

    private static void tell(Shop shop, Work work, boolean transactional, String stop, int atOnce, String lost) {
        System.out.printf(
                Locale.ROOT,
                "WAVES %s %s %s %s: at once %d, still there %d, sessions lost %s, permits back %d ms (median), %d ms (slowest), %s%n",
                shop.database,
                work,
                transactional ? "transaction" : "plain",
                stop,
                atOnce,
                shop.calls.stillThere().size(),
                lost,
                shop.calls.median(),
                shop.calls.slowest(),
                shop.calls.outcomes());
    }
}
