package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(300)
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
}
