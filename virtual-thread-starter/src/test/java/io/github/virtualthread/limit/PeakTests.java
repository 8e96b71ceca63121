package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.WaitQueue.Peak;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class PeakTests extends TimedLimits {

    private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);

    private final Peak peak = new Peak(0);

    @Test
    void itStaysForAMinuteHoweverOftenItIsRead() {
        peak.note(7);
        assertThat(peak.read(1, MINUTE / 2)).isEqualTo(7);
        assertThat(peak.read(1, MINUTE)).isEqualTo(7);
        peak.note(3);
        assertThat(peak.read(1, 2 * MINUTE - 1)).isEqualTo(7);

        assertThat(peak.read(1, 2 * MINUTE)).isEqualTo(3);
        assertThat(peak.read(2, 3 * MINUTE)).isEqualTo(2);
    }

    @Test
    void whoReadsSeldomReadsWhatWasSinceTheReadingBefore() {
        peak.note(7);
        assertThat(peak.read(1, 10 * MINUTE)).isEqualTo(7);
        assertThat(peak.read(1, 20 * MINUTE)).isEqualTo(1);
    }

    @Test
    void aLimitHasThePeakOfWhatWaited() {
        TaskLimit limit = limit(LimitSettings.of("db", 3));
        List<Call> calls = Call.asked(limit, 5);
        calls.forEach(Call::giveBack);
        Call.asked(limit).giveBack();

        assertThat(limit.mostWaiting()).isEqualTo(2);
    }
}
