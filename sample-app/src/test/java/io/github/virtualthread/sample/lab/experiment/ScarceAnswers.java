package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.lab.Answer;
import java.util.List;

/** What an answer of {@link ScarceResource} must say, whatever the database is. */
final class ScarceAnswers {

    private ScarceAnswers() {}

    /** Without a limit some fail, otherwise none. */
    static void assertThatOnlyTheUnlimitedFail(Answer answer) {
        assertThat(failed(answer, ScarceResource.UNLIMITED)).isPositive();
        for (String limited : List.of(
                ScarceResource.PATIENT,
                ScarceResource.CONCURRENCY_LIMIT,
                ScarceResource.VIRTUAL,
                ScarceResource.LIMITED,
                ScarceResource.VIRTUAL_BOUNDED,
                ScarceResource.LIMITED_BOUNDED)) {
            assertThat(failed(answer, limited)).as(limited).isZero();
        }
    }

    private static double failed(Answer answer, String way) {
        return answer.row(way).median("failed");
    }
}
