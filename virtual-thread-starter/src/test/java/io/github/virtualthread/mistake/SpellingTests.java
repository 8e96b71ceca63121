package io.github.virtualthread.mistake;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SpellingTests {

    @ParameterizedTest
    @CsvSource({"mial,mail", "maill,mail", "Mail_,mail", "reprot,report", "report-s,report", "d,db"})
    void findsTheNameThatWasMeant(String written, String meant) {
        assertThat(Spelling.nearest(written, List.of("db", "mail", "report"))).contains(meant);
    }

    @Test
    void findsTheNearestOfSeveral() {
        assertThat(Spelling.nearest("orders1", List.of("order", "orders2x", "orders")))
                .contains("orders");
    }

    @ParameterizedTest
    @ValueSource(strings = {"invoice", "x1", "mmmmmmmmmmmm"})
    void findsNoneWhereNoneIsNear(String written) {
        assertThat(Spelling.nearest(written, List.of("db", "mail", "report"))).isEmpty();
        assertThat(Spelling.nearest(written, List.of())).isEmpty();
    }
}
