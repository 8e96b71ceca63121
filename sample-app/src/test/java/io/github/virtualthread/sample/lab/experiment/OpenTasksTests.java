package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class OpenTasksTests {

    private final CompletableFuture<Void> first = new CompletableFuture<>();
    private final CompletableFuture<Void> second = new CompletableFuture<>();
    private final OpenTasks tasks = new OpenTasks(2);

    @Test
    void whatIsDoneIsCountedAndWhatIsOpenIsCancelled() {
        tasks.add(0, first);
        tasks.add(1, second);
        assertThat(tasks.done()).isZero();

        first.complete(null);
        tasks.cancel();

        assertThat(second).isCancelled();
        assertThat(tasks.done()).isEqualTo(2);
    }

    @Test
    void aTaskThatFailsFailsTheWaitForAll() {
        IllegalStateException failure = new IllegalStateException("broken");
        tasks.add(0, first);
        tasks.add(1, second);

        first.completeExceptionally(failure);
        second.complete(null);

        assertThatThrownBy(tasks::await)
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isSameAs(failure);
    }
}
