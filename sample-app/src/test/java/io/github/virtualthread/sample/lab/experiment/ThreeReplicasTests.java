package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.lab.About;
import io.github.virtualthread.sample.lab.Answer.Line;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Measurement;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Settings;
import io.github.virtualthread.sample.lab.Settings.Scale;
import io.github.virtualthread.sample.lab.experiment.ReplicasTrial.Part;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.config.YamlPropertiesFactoryBean;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;

/** What is said of the figures; the figures themselves are in {@link ReplicasTrialTests}. */
@Timeout(300)
class ThreeReplicasTests {

    private static final int PERMITS = 21;

    private final About about = new ThreeReplicas().about();

    @Test
    void theSentenceSaysWhatKeptThePartnerBusy() {
        assertThat(sentence(local(14, 14, 14), shares(20.6, 20.5, 20), permit(20, 19.9, 0)))
                .isEqualTo(
                        "Of 21 permits, local limits, shares and a permit for each call used 14, 20.6 and 20 while one replica was"
                                + " idle, 14, 20.5 and 19.9 after one was killed, 14, 20 and 0 without Redis. Only shares kept the partner busy each time, with at least 80 % of the permits in use. The"
                                + " partner never had more than 21 calls at once.");
        assertThat(sentence(local(14, 14, 14), shares(14, 20, 20), permit(20, 20, 0)))
                .contains(" None of them kept the partner busy each time, ");
        assertThat(sentence(local(14, 14, 14), shares(20, 20, 20), permit(17, 17, 17)))
                .contains(" Only shares and a permit for each call kept the partner busy each time, ");
        assertThat(sentence(local(21, 21, 21), shares(20, 20, 20), permit(17, 17, 17)))
                .contains(" All of them kept the partner busy each time, ");
    }

    @Test
    void theSentenceSaysWhoExceededThePermitsInAnyRound() {
        Row shares = Row.of(ThreeReplicas.SHARES, List.of(measured(21, 20, 20, 20), measured(23, 20, 20, 20)));

        assertThat(sentence(local(14, 14, 14), shares, permit(20, 20, 0)))
                .endsWith(" The partner had up to 23 calls at once with shares: more than the permits.");
    }

    @Test
    void oneContenderThatKeptThePartnerBusyIsTheRightGuess() {
        assertThat(right(local(14, 14, 14), shares(20, 17, 20), permit(20, 20, 0)))
                .isEqualTo(ThreeReplicas.SHARES);
        assertThat(right(local(14, 14, 14), shares(20, 16.7, 20), permit(20, 20, 0)))
                .isEqualTo(ThreeReplicas.NONE);
        assertThat(right(local(17, 17, 17), shares(20, 20, 0), permit(20, 20, 0)))
                .isEqualTo(ThreeReplicas.LOCAL);
        assertThat(right(local(14, 14, 14), shares(14, 20, 20), permit(20, 20, 20)))
                .isEqualTo(ThreeReplicas.PERMIT);
        assertThat(right(local(14, 14, 14), shares(20, 20, 20), permit(20, 20, 20)))
                .isEmpty();
        assertThat(about.guesses())
                .containsExactly(ThreeReplicas.LOCAL, ThreeReplicas.SHARES, ThreeReplicas.PERMIT, ThreeReplicas.NONE);
    }

    @Test
    void withoutRedisItSaysWhatIsLeftOutAndWhy() {
        Row local = local(14, 14, 14);

        assertThat(sentence(local)).startsWith("Of 21 permits, local limits used 14 while one replica was idle, ");
        assertThat(right(local)).isEmpty();
        assertThat(ThreeReplicas.notes(run(), "java.io.IOException: no such program")
                        .getFirst())
                .isEqualTo(
                        "Redis does not start on this system, so only the local limits were measured. Shares and a permit for"
                                + " each call are left out. The reason: java.io.IOException: no such program");
        assertThat(ThreeReplicas.notes(run(), "").getFirst())
                .isEqualTo(
                        "All have the same 21 permits: local limits have 7 in each of 3 replicas, the others share them.");
    }

    @Test
    void thePartnerCountsByItself() throws Exception {
        try (CountingPartner partner = CountingPartner.open(Duration.ofMillis(20))) {
            CountingPartner.Count before = partner.begin();
            CountingPartner.Client client = new CountingPartner.Client(partner.port());
            List<CompletableFuture<Void>> calls = IntStream.range(0, 10)
                    .mapToObj(call -> CompletableFuture.runAsync(
                            client::call, task -> Thread.ofVirtual().start(task)))
                    .toList();
            CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new)).get(10, TimeUnit.MINUTES);
            CountingPartner.Count after = partner.look();

            assertThat(after.done()).isEqualTo(10);
            assertThat(after.inside()).isZero();
            assertThat(after.most()).isBetween(1, 10);
            // each took 20 ms at least
            assertThat(after.mean(before) * after.seconds(before)).isGreaterThanOrEqualTo(10 * 0.02);
            assertThat(partner.begin().most()).isZero();
        }
    }

    @Test
    void whatIsDrawnIsSmoothed() {
        List<double[]> points = IntStream.range(0, 6)
                .mapToObj(at -> new double[] {at, at % 2 == 0 ? 10 : 20})
                .toList();

        assertThat(ReplicasTrial.smoothed(new Line("shares", points)))
                .isEqualTo(new Line("shares", List.of(new double[] {3, 15}, new double[] {5, 15})));
    }

    @Test
    void theSettingsShownAreThoseOfAReplica() {
        Map<Object, Object> shown = properties(new ByteArrayResource(about.yml().getBytes(StandardCharsets.UTF_8)));
        Map<Object, Object> ofReplica = properties(new ClassPathResource("three-replicas.yml"));

        assertThat(ofReplica.keySet()).containsAll(shown.keySet());
        assertThat(shown)
                .containsEntry("virtual-thread.limits.partner.cluster-permits", ReplicasTrial.permits(run()))
                .containsEntry("virtual-thread.cluster.lease", ReplicasTrial.LEASE_SECONDS + "s");
    }

    private static Map<Object, Object> properties(Resource yml) {
        YamlPropertiesFactoryBean factory = new YamlPropertiesFactoryBean();
        factory.setResources(yml);
        return Map.copyOf(factory.getObject());
    }

    private Run run() {
        return new Run(Settings.of(about.parameters(), Map.of(), Scale.NORMAL), new Unwatched());
    }

    private static String sentence(Row... rows) {
        return ThreeReplicas.sentence(List.of(rows), PERMITS);
    }

    private static String right(Row... rows) {
        return ThreeReplicas.right(List.of(rows), PERMITS);
    }

    private static Row local(double idle, double killed, double stopped) {
        return row(ThreeReplicas.LOCAL, idle, killed, stopped);
    }

    private static Row shares(double idle, double killed, double stopped) {
        return row(ThreeReplicas.SHARES, idle, killed, stopped);
    }

    private static Row permit(double idle, double killed, double stopped) {
        return row(ThreeReplicas.PERMIT, idle, killed, stopped);
    }

    private static Row row(String name, double idle, double killed, double stopped) {
        return Row.of(name, List.of(measured(PERMITS, idle, killed, stopped)));
    }

    private static Measurement measured(int most, double idle, double killed, double stopped) {
        Measurement measured = Measurement.of(ReplicasTrial.MOST.key(), most);
        double[] means = {PERMITS, idle, PERMITS, killed, stopped, PERMITS};
        for (int at = 0; at < means.length; at++) {
            measured = measured.and(Part.values()[at].column().key(), means[at]);
        }
        return measured;
    }
}
