package io.github.virtualthread.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.PermitsFrom;
import io.github.virtualthread.mistake.Mistake;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class LimitFamiliesTests {

    @Test
    void eachLimitComesAfterTheOneAroundIt() {
        LimitFamilies families = families(limit("a", "B"), limit("b", "c_"), limit("c", null), limit("d", "a"));

        assertThat(families.mistakes()).isEmpty();
        assertThat(families.limits()).extracting(LimitSettings::name).containsExactly("c", "b", "a", "d");
        assertThat(families.limits()).extracting(LimitSettings::within).containsExactly(null, "c_", "B", "a");
    }

    @Test
    void aCycleIsOneMistakeNoMatterWhatLeadsIntoIt() {
        LimitFamilies families = families(limit("x", "a"), limit("a", "b"), limit("b", "a"), limit("y", "b"));

        assertThat(families.mistakes())
                .containsExactly(
                        new Mistake(
                                "Limits lie within each other: a within b within a",
                                "Remove one of these properties: virtual-thread.limits.a.within, virtual-thread.limits.b.within."));
        assertThat(families.limits())
                .extracting(LimitSettings::name, LimitSettings::within)
                .containsExactly(tuple("a", null), tuple("x", "a"), tuple("b", "a"), tuple("y", "b"));
    }

    @Test
    void nothingLiesWithinADryRun() {
        LimitFamilies families =
                families(limit("report", "db"), limit("db", null).withDryRun(true));

        assertThat(families.mistakes())
                .containsExactly(new Mistake(
                        "Limit 'report' lies within 'db', whose dry-run must be false then, because a dry run watches one"
                                + " queue",
                        "Remove virtual-thread.limits.db.dry-run, or remove virtual-thread.limits.report.within for the"
                                + " time of the dry run."));
        assertThat(families.limits()).extracting(LimitSettings::within).containsOnlyNulls();
    }

    @Test
    void twoCyclesAreTwoMistakes() {
        assertThat(families(limit("a", "b"), limit("b", "a"), limit("c", "d"), limit("d", "e"), limit("e", "c"))
                        .mistakes())
                .hasSize(2);
    }

    @Test
    void anUnknownLimitIsRemovedSoThatTheOthersCanBeMade() {
        LimitFamilies families = families(limit("partner.api", "dp"), limit("db", null));

        assertThat(families.mistakes())
                .containsExactly(new Mistake(
                        "Limit 'partner.api' lies within 'dp', but the other limits are [db]",
                        "Did you mean 'db'? Correct virtual-thread.limits.\"[partner.api]\".within, or set"
                                + " virtual-thread.limits.dp.permits."));
        assertThat(families.limits()).extracting(LimitSettings::within).containsOnlyNulls();
    }

    @Test
    void aNameThatNoLimitCanHaveIsNotSuggested() {
        assertThat(families(limit("report", "price db"), limit("price-db", null))
                        .mistakes())
                .extracting(Mistake::action)
                .containsExactly("Did you mean 'price-db'? Correct virtual-thread.limits.report.within, or remove it.");
    }

    @Test
    void thePoolBelongsToTheOutermostLimit() {
        PermitsFrom pool = new PermitsFrom("dataSource", 0);
        LimitFamilies families = families(
                limit("page", "report").withPermitsFrom(pool),
                limit("report", "db"),
                limit("db", null).withPermitsFrom(pool));

        assertThat(families.mistakes())
                .extracting(Mistake::description)
                .containsExactly(
                        "Limit 'page' has both within: report and permits-from: dataSource, but the pool belongs"
                                + " to 'db'");
        assertThat(families.limits()).extracting(LimitSettings::permitsFrom).containsExactly(pool, null, null);
    }

    private static LimitFamilies families(LimitSettings... limits) {
        return new LimitFamilies(Stream.of(limits).toList());
    }

    private static LimitSettings limit(String name, String within) {
        return LimitSettings.of(name, 5).withWithin(within);
    }
}
