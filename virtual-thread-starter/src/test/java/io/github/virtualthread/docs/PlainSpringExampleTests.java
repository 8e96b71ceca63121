package io.github.virtualthread.docs;

import static io.github.virtualthread.test.LimitAssert.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.Occupation;
import io.github.virtualthread.limit.TaskLimits;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

@Timeout(300)
// example: TestByHand
@SpringJUnitConfig(PlainSpring.class)
class PlainSpringExampleTests {

    @Test
    void aCallByHandWaitsForItsPermit(@Autowired TaskLimits limits, @Autowired VirtualThreads threads) {
        TaskLimit db = limits.get("db");
        CompletableFuture<Integer> answer;
        try (Occupation full = db.occupy()) {
            answer = threads.submit("db", () -> 42);
            assertThat(db).hasWaiting(1);
        }
        assertThat(answer.join()).isEqualTo(42);
        assertThat(db).isIdle();
    }
}
// end
