package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(5)
class LimitNamesTests {

    @ParameterizedTest
    @ValueSource(strings = {"price-db", "priceDb", "PRICEDB", "price_db", "-Price--DB_"})
    void spellingsOfOneNameAreTheSame(String spelling) {
        assertThat(LimitNames.uniform(spelling)).isEqualTo("pricedb");
    }

    @Test
    void aDotMakesAnotherName() {
        assertThat(LimitNames.uniform("partner.api")).isEqualTo("partner.api");
    }

    @ParameterizedTest
    @ValueSource(strings = {"db", "price-db", "partner.api", "a_1", "7", "größe", ".a"})
    void allowsLettersDigitsAndThreeSigns(String name) {
        assertThat(LimitNames.isAllowed(name)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "a b", "a/b", "a:b", "-", "_-_", ".", "...", "-.", "a\n"})
    void allowsNothingElse(String name) {
        assertThat(LimitNames.isAllowed(name)).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"mial,mail", "maill,mail", "Mail_,mail", "reprot,report", "report-s,report", "d,db"})
    void findsTheNameThatWasMeant(String written, String meant) {
        assertThat(LimitNames.nearest(written, List.of("db", "mail", "report"))).contains(meant);
    }

    @Test
    void findsTheNearestOfSeveral() {
        assertThat(LimitNames.nearest("orders1", List.of("order", "orders2x", "orders")))
                .contains("orders");
    }

    @ParameterizedTest
    @ValueSource(strings = {"invoice", "x1", "mmmmmmmmmmmm"})
    void findsNoneWhereNoneIsNear(String written) {
        assertThat(LimitNames.nearest(written, List.of("db", "mail", "report"))).isEmpty();
        assertThat(LimitNames.nearest(written, List.of())).isEmpty();
    }
}
