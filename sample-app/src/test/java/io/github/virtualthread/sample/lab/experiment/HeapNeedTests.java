package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HeapNeedTests {

    private static final long GIGABYTE = 1L << 30;

    @Test
    void whatLeavesRoomToTheCollectorMayRun() {
        assertThat(new HeapNeed(849, 20).refusal("@VirtualThread", 1_000, 1_000_000))
                .isEmpty();
        assertThat(new HeapNeed(851, 20).refusal("@VirtualThread", 1_000, 1_000_000))
                .isPresent();
    }

    @Test
    void aRefusalSaysHowMuchHeapIsNeededAndHowToGiveIt() {
        assertThat(new HeapNeed(3_300, 20_000).refusal("@VirtualThread", 5_000_000, 6 * GIGABYTE))
                .hasValue(
                        "Left out: @VirtualThread would need 18.1 GB of heap, 3,300 bytes for each of 5,000,000 that wait,"
                                + " as 20,000 of them took; there are 6.0 GB. Give it more by"
                                + " -Dspring-boot.run.jvmArguments=-Xmx19g, where the machine has as much");
    }
}
