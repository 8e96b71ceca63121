package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.lab.Answer;
import java.util.List;

/** What an answer of {@link ScarceResource} must say, whatever the database is. */
final class ScarceAnswers {

    private ScarceAnswers() {}

    /** Nor with a longer wait for a connection. */
    static void assertThatWithALimitNoneFails(Answer answer) {
        for (String limited : List.of(
                ScarceResource.PATIENT,
                ScarceResource.CONCURRENCY_LIMIT,
                ScarceResource.VIRTUAL,
                ScarceResource.LIMITED,
                ScarceResource.VIRTUAL_BOUNDED,
                ScarceResource.LIMITED_BOUNDED)) {
            assertThat(answer.row(limited).median("failed")).as(limited).isZero();
        }
    }
}
