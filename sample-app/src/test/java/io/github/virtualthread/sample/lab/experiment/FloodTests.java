package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.lab.Measurement;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FloodTests {

    @Test
    void aCallThatEndsWhileItIsCountedIsFoundInOnePlace() {
        Flood flood = new Flood(4, Duration.ZERO) {
            private int request;

            @Override
            int done() {
                int done = super.done();
                callPartner(request++);
                return done;
            }
        };
        for (int request = 0; request < 4; request++) {
            flood.accept();
        }
        flood.reject();

        Map<String, Double> figures = flood.addTo(Measurement.of("answered", 4)).figures();

        assertThat(figures.get("done") + figures.get("rejected") + figures.get("left"))
                .isEqualTo(4);
    }
}
