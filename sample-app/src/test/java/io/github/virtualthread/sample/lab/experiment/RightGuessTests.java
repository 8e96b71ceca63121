package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Measurement;
import io.github.virtualthread.sample.lab.Ranges;
import io.github.virtualthread.sample.lab.experiment.LimitWhileItRuns.Change;
import io.github.virtualthread.sample.lab.experiment.OverloadServer.Way;
import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

/** Which guess the figures of an experiment confirm. */
class RightGuessTests {

    private final Ranges ranges = new Ranges(3);

    private static final String FIXED = "fixed pool of 10";
    private static final String CACHED = "cached pool of at most 2,000";
    private static final String MINE = "@VirtualThread";

    @Test
    void poolOrVirtualComparesTheBestOfBoth() {
        assertThat(PoolOrVirtual.right(
                        List.of(millis(FIXED, 10_000), millis(CACHED, 1_030), millis(MINE, 1_010)), ranges))
                .isEqualTo(PoolOrVirtual.LARGE_POOL);
        assertThat(PoolOrVirtual.right(List.of(millis(CACHED, 5_000), millis(MINE, 1_100)), ranges))
                .isEqualTo(PoolOrVirtual.VIRTUAL_WINS);
        assertThat(PoolOrVirtual.right(List.of(millis(CACHED, 1_000), millis(MINE, 1_300)), ranges))
                .isEqualTo(PoolOrVirtual.POOLS_WIN);
        assertThat(PoolOrVirtual.right(List.of(millis(MINE, 1_300)), ranges)).isEqualTo(PoolOrVirtual.VIRTUAL_WINS);
        assertThat(PoolOrVirtual.right(List.of(millis(CACHED, 1_300)), ranges)).isEmpty();
    }

    @Test
    void blockingRequestsComparesWhereTheyWaitAndWhereTheyDoNot() {
        assertThat(BlockingRequests.right(requests(15_000, 16_000, 197, 548), ranges))
                .isEqualTo(BlockingRequests.VIRTUAL_WHERE_WAITING);
        assertThat(BlockingRequests.right(requests(15_000, 29_000, 197, 548), ranges))
                .isEqualTo(BlockingRequests.VIRTUAL_ALWAYS);
        assertThat(BlockingRequests.right(requests(15_000, 15_000, 548, 197), ranges))
                .isEqualTo(BlockingRequests.POOL);
        assertThat(BlockingRequests.right(requests(15_000, 15_000, 100, 100), ranges))
                .isEmpty();
    }

    @Test
    void oneCarrierComparesWithTheNumberOfUsers() {
        assertThat(OneCarrier.right(answers(1, 47), 50, 1_000, ranges)).isEqualTo(OneCarrier.ALL_USERS);
        assertThat(OneCarrier.right(answers(1, 1.1), 50, 1_000, ranges)).isEqualTo(OneCarrier.ONE_AT_A_TIME);
        assertThat(OneCarrier.right(answers(1, 2), 50, 1_000, ranges)).isEqualTo(OneCarrier.A_LITTLE_MORE);
        assertThat(OneCarrier.right(answers(1, 20), 50, 1_000, ranges)).isEmpty();
    }

    @Test
    void threadCostAddsTheHeapAndTheRest() {
        assertThat(ThreadCost.right(
                        List.of(row("p", "heap", 431, "resident", 12_001), row("v", "heap", 1_427, "resident", 0)),
                        ranges))
                .isEqualTo(ThreadCost.LESS);
        assertThat(ThreadCost.right(
                        List.of(row("p", "heap", 431, "resident", 900), row("v", "heap", 1_427, "resident", 0)),
                        ranges))
                .isEqualTo(ThreadCost.THE_SAME);
        assertThat(ThreadCost.right(List.of(row("p", "heap", 431), row("v", "heap", 1_427)), ranges))
                .isEmpty();
    }

    @Test
    void explodingPoolLooksForWhatWasRejected() {
        assertThat(ExplodingPool.right(flood(1_000, 150, 850), ranges)).isEqualTo(ExplodingPool.FEWER);
        assertThat(ExplodingPool.right(flood(100, 100, 0), ranges)).isEqualTo(ExplodingPool.AS_MANY);
    }

    @Test
    void scarceResourceComparesRatesAndFailures() {
        assertThat(ScarceResource.right(scarce(364, 378, 363, 100), ranges)).isEqualTo(ScarceResource.EQUALLY_FAST);
        assertThat(ScarceResource.right(scarce(364, 378, 200, 100), ranges)).isEqualTo(ScarceResource.SLOWER);
        assertThat(ScarceResource.right(scarce(200, 378, 363, 0), ranges)).isEqualTo(ScarceResource.FASTER);
        assertThat(ScarceResource.right(scarce(364, 378, 363, 0), ranges)).isEmpty();
    }

    @Test
    void databaseStopsComparesWithThePermits() {
        assertThat(DatabaseStops.right(stops(24, 4), 4)).isEqualTo(DatabaseStops.BY_INTERRUPT);
        assertThat(DatabaseStops.right(stops(4, 4), 4)).isEqualTo(DatabaseStops.NEVER);
        assertThat(DatabaseStops.right(stops(24, 5), 4)).isEqualTo(DatabaseStops.ALWAYS);
        assertThat(DatabaseStops.right(stops(4, 5), 4)).isEmpty();
    }

    private static List<Row> stops(int interrupt, int statement) {
        return List.of(
                row(DatabaseStops.INTERRUPT, "most", interrupt), row(DatabaseStops.STATEMENT, "most", statement));
    }

    @Test
    void pinningDriverComparesTheLimitsOnTheJavaThatPins() {
        assertThat(PinningDriver.right(List.of(rate("few", 8), rate("many", 8)), ranges))
                .isEqualTo(PinningDriver.THE_SAME);
        assertThat(PinningDriver.right(List.of(rate("few", 40), rate("many", 400)), ranges))
                .isEqualTo(PinningDriver.LARGER);
        assertThat(PinningDriver.right(List.of(rate("few", 0), rate("many", 0)), ranges))
                .isEqualTo(PinningDriver.NEITHER);
        assertThat(PinningDriver.right(List.of(rate("both", 8)), ranges)).isEmpty();
    }

    @Test
    void compositeTaskComparesWithThePartsOneAfterTheOther() {
        assertThat(CompositeTask.right(pages(489, 213, 152), ranges)).isEqualTo(CompositeTask.LONGEST_PART);
        assertThat(CompositeTask.right(pages(489, 480, 152), ranges)).isEqualTo(CompositeTask.ALL_PARTS);
        assertThat(CompositeTask.right(pages(489, 213, 30), ranges)).isEqualTo(CompositeTask.STOPPED);
    }

    @Test
    void limitWhileItRunsLooksAtWhatStartedAndWhatEnded() {
        assertThat(LimitWhileItRuns.right(List.of(new Change(5, 20, 5, 200, 15)), 0))
                .isEqualTo(LimitWhileItRuns.WAITING_START);
        assertThat(LimitWhileItRuns.right(List.of(new Change(5, 20, 5, 200, 0)), 0))
                .isEqualTo(LimitWhileItRuns.NOTHING);
        assertThat(LimitWhileItRuns.right(List.of(new Change(20, 5, 20, 0, 0)), 3))
                .isEqualTo(LimitWhileItRuns.RUNNING_END);
        assertThat(LimitWhileItRuns.right(List.of(new Change(5, 20, 5, 0, 0)), 0))
                .isEmpty();
    }

    @Test
    void oneTenantFloodsComparesWithTheWaitInOneQueue() {
        assertThat(OneTenantFloods.right(waits(3_000, 8, 0), 20, ranges)).isEqualTo(OneTenantFloods.TURNS_SUFFICE);
        assertThat(OneTenantFloods.right(waits(3_000, 2_900, 1), 20, ranges)).isEqualTo(OneTenantFloods.ONLY_A_CAP);
        assertThat(OneTenantFloods.right(waits(3_000, 2_900, 2_800), 20, ranges))
                .isEqualTo(OneTenantFloods.BEHIND);
        assertThat(OneTenantFloods.right(waits(30, 8, 0), 20, ranges))
                .as("no flood")
                .isEmpty();
    }

    @Test
    void threeTimesTooMuchComparesWhatIsDoneInTime() {
        assertThat(ThreeTimesTooMuch.right(inTime(199, 1), ranges)).isEqualTo(ThreeTimesTooMuch.MORE);
        assertThat(ThreeTimesTooMuch.right(inTime(100, 100), ranges)).isEqualTo(ThreeTimesTooMuch.AS_MANY);
        assertThat(ThreeTimesTooMuch.right(inTime(100, 199), ranges)).isEqualTo(ThreeTimesTooMuch.FEWER);
        assertThat(ThreeTimesTooMuch.right(inTime(199, 1), new Ranges(1))).isEqualTo(ThreeTimesTooMuch.MORE);
    }

    private static List<Row> inTime(double hopeless, double deadline) {
        String key = DeadlineTally.IN_TIME.key();
        return List.of(row(Way.DEADLINE.label(), key, deadline), row(Way.HOPELESS.label(), key, hopeless));
    }

    @Test
    void theDoorComparesWhatIsDoneAndThenTheTimesToARefusal() {
        assertThat(TheDoor.right(door(200, 1.2, 200, 2_000), ranges)).isEqualTo(TheDoor.SOONER);
        assertThat(TheDoor.right(door(200, 1_900, 200, 2_000), ranges)).isEqualTo(TheDoor.NOTHING);
        assertThat(TheDoor.right(door(200, 1_000, 200, 2_000), ranges))
                .as("sooner, but not at once")
                .isEmpty();
        assertThat(TheDoor.right(door(668, 324, 257, 2_500), ranges)).isEqualTo(TheDoor.MORE);
        assertThat(TheDoor.right(door(257, 1, 668, 2_500), ranges)).as("less").isEmpty();
        assertThat(TheDoor.right(door(200, 5_000, 200, 1_000), ranges))
                .as("later")
                .isEmpty();
        assertThat(TheDoor.right(List.of(rate(TheDoor.DOOR, 200), rate(TheDoor.VIRTUAL, 200)), ranges))
                .as("nobody was refused")
                .isEmpty();
    }

    @Test
    void theDoorAddsGoodputOnlyWhereItWasMeasured() {
        assertThat(TheDoor.sentence(door(200, 1.25, 199, 2_001), ranges))
                .isEqualTo(
                        "With the door, 200 requests per second were done. Without it, 199 were done on virtual threads"
                                + " and 198 on platform threads. The door added no goodput. The median request took 3,002 ms,"
                                + " 3,003 ms and 18,604 ms. The median refusal came after 1.25 ms with the door, after 2,001 ms on"
                                + " virtual threads without it, and never on platform threads.");
        assertThat(TheDoor.sentence(door(220, 1, 199, 2_001), ranges))
                .contains("The door made no clear difference to goodput.");
        assertThat(TheDoor.sentence(door(668, 324, 257, 2_500), ranges))
                .contains("On virtual threads the door added goodput. The median");
        assertThat(TheDoor.sentence(door(150, 324, 100, 2_500), ranges))
                .contains("On virtual threads the door added goodput. Platform threads did more still.");
        assertThat(TheDoor.sentence(door(257, 324, 668, 2_500), ranges))
                .contains("On virtual threads the door cost goodput.");
    }

    @Test
    void theDoorSaysOfAPoolOnlyWhatWasMeasured() {
        String later = "The door refuses at once what the pool would refuse later.";
        assertThat(TheDoor.honestly(door(200, 1, 199, 2_000), ranges))
                .isEqualTo("In front of such a pool a door adds no goodput. " + later);
        assertThat(TheDoor.honestly(door(200, 1_900, 199, 2_000), ranges)).endsWith("adds no goodput.");
        assertThat(TheDoor.honestly(List.of(rate(TheDoor.DOOR, 200), rate(TheDoor.VIRTUAL, 200)), ranges))
                .as("nobody was refused")
                .endsWith("adds no goodput.");
        assertThat(TheDoor.honestly(door(220, 1, 199, 2_000), ranges))
                .startsWith("The difference in goodput is too small to tell")
                .endsWith(later);
        assertThat(TheDoor.honestly(door(200, 5_000, 199, 1_000), ranges))
                .contains("the door refused later than the pool")
                .doesNotContain(later);
        assertThat(TheDoor.honestly(door(668, 1, 257, 2_500), ranges))
                .contains("In this run the door added goodput")
                .doesNotContain(later);
        assertThat(TheDoor.honestly(door(257, 1, 668, 2_500), ranges))
                .contains("In this run the door cost goodput")
                .doesNotContain(later);
    }

    @Test
    void rangesThatOverlapDecideNothing() {
        List<Row> noisy = List.of(
                rates(ScarceResource.POOL, 200, 230, 300),
                Row.of(ScarceResource.UNLIMITED, List.of(unlimited(115), unlimited(290), unlimited(366))),
                rates(ScarceResource.VIRTUAL, 159, 200, 321));

        assertThat(ScarceResource.right(noisy, ranges)).isEmpty();
        assertThat(ranges.open())
                .contains("virtual threads, no limit (115 to 366) and @VirtualThread with a limit (159 to 321)")
                .endsWith("This machine is too noisy for that difference.");
    }

    @Test
    void oneRoundDecidesOnlyALargeDifference() {
        Ranges one = new Ranges(1);
        assertThat(PoolOrVirtual.right(List.of(millis(CACHED, 1_000), millis(MINE, 1_300)), one))
                .isEmpty();
        assertThat(one.open())
                .isEqualTo(
                        "Too few rounds for @VirtualThread (1,300) and cached pool of at most 2,000 (1,000); cached pool"
                                + " of at most 2,000 (1,000) and @VirtualThread (1,300): 2 more would be needed.");
        assertThat(PoolOrVirtual.right(List.of(millis(CACHED, 1_000), millis(MINE, 13_000)), new Ranges(1)))
                .isEqualTo(PoolOrVirtual.POOLS_WIN);
    }

    private static Measurement unlimited(double rate) {
        return Measurement.of("rate", rate).and("failed", 100).and("timedOut", 0);
    }

    private static Row rates(String name, double... rates) {
        return Row.of(
                name,
                DoubleStream.of(rates)
                        .mapToObj(rate -> Measurement.of("rate", rate))
                        .toList());
    }

    private static Row millis(String name, double millis) {
        return row(name, "millis", millis);
    }

    private static Row rate(String name, double rate) {
        return row(name, "rate", rate);
    }

    private static List<Row> requests(double poolQuick, double virtualQuick, double poolBlock, double virtualBlock) {
        return List.of(
                rate(BlockingRequests.PLATFORM_QUICK, poolQuick),
                rate(BlockingRequests.VIRTUAL_QUICK, virtualQuick),
                rate(BlockingRequests.PLATFORM_BLOCK, poolBlock),
                rate(BlockingRequests.VIRTUAL_BLOCK, virtualBlock));
    }

    private static List<Row> answers(double platform, double virtual) {
        return List.of(rate(OneCarrier.PLATFORM, platform), rate(OneCarrier.VIRTUAL, virtual));
    }

    private static List<Row> flood(double answered, double done, double rejected) {
        return List.of(
                Row.of(
                        ExplodingPool.POOL,
                        List.of(new Measurement(Map.of("answered", answered, "done", done, "rejected", rejected)))),
                row(ExplodingPool.QUEUE, "answered", answered));
    }

    private static List<Row> scarce(double pool, double unlimited, double limited, double failed) {
        return List.of(
                rate(ScarceResource.POOL, pool),
                Row.of(
                        ScarceResource.UNLIMITED,
                        List.of(new Measurement(Map.of("rate", unlimited, "failed", failed, "timedOut", 0.0)))),
                rate(ScarceResource.VIRTUAL, limited));
    }

    private static List<Row> waits(double oneQueue, double turns, double cap) {
        String key = OneTenantFloods.WAITED.key();
        return List.of(
                row(OneTenantFloods.ONE_QUEUE, key, oneQueue),
                row(OneTenantFloods.TURNS, key, turns),
                row(OneTenantFloods.CAP, key, cap));
    }

    private static List<Row> door(double door, double told, double virtual, double toldLater) {
        String key = DoorTally.TOLD.key();
        Measurement platform = Measurement.of("rate", 198).and("p50", 18_604);
        return List.of(
                Row.of(
                        TheDoor.DOOR,
                        List.of(Measurement.of("rate", door).and("p50", 3_002).and(key, told))),
                Row.of(
                        TheDoor.VIRTUAL,
                        List.of(Measurement.of("rate", virtual)
                                .and("p50", 3_003)
                                .and(key, toldLater))),
                Row.of(TheDoor.PLATFORM, List.of(platform)));
    }

    private static List<Row> pages(double sequential, double virtual, double server) {
        return List.of(
                page(CompositeTask.SEQUENTIAL, sequential, 30),
                page(CompositeTask.ASYNC, virtual, server),
                page(CompositeTask.VIRTUAL, virtual, server),
                page(CompositeTask.ALL, virtual, 30));
    }

    private static Row page(String name, double page, double server) {
        return Row.of(name, List.of(new Measurement(Map.of("page", page, "failed", 30.0, "server", server))));
    }

    private static Row row(String name, String key, double figure) {
        return Row.of(name, List.of(Measurement.of(key, figure)));
    }

    private static Row row(String name, String key, double figure, String other, double second) {
        return Row.of(name, List.of(Measurement.of(key, figure).and(other, second)));
    }
}
