package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Lab;
import io.github.virtualthread.sample.lab.Settings.Scale;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;

@SampleTest
class ContextAndCancelTests {

    private static final int ASYNC = 1;
    private static final int VIRTUAL = 2;

    @Test
    void theTaskOfVirtualThreadHasTheIdIsStoppedAndShowsItsCaller(@Autowired Lab lab) throws Exception {
        Answer answer = lab.start("context-and-cancel", Map.of("millis", "500"), Scale.SMALL)
                .answer()
                .get(10, TimeUnit.MINUTES);

        List<String> log = answer.facts().rows().get(0);
        assertThat(log.get(ASYNC)).startsWith("INFO [] [").endsWith("Order 4711 has been sent");
        assertThat(log.get(VIRTUAL)).startsWith("INFO [r-4711] [vt-ContextTasks.logVirtual-");
        List<String> cancel = answer.facts().rows().get(1);
        assertThat(cancel.get(ASYNC)).contains("ran on for ").endsWith("to its end");
        assertThat(cancel.get(VIRTUAL)).startsWith("the work stopped after ");
        List<String> stack = answer.facts().rows().get(2);
        assertThat(stack.get(VIRTUAL))
                .startsWith("java.lang.IllegalStateException: Order 4711 has no address")
                .contains("ContextTasks.failVirtual")
                .doesNotContain("ContextAndCancel.");
        List<String> traced = answer.facts().rows().get(3);
        assertThat(traced.get(VIRTUAL)).contains("was called here", "ContextAndCancel.tracedStack");
        assertThat(answer.sentence())
                .isEqualTo(
                        "With @Async on virtual threads: request id missing from the log, cancel(true) does not stop the"
                                + " work, failure does not show the caller. With @VirtualThread: request id in the log, cancel(true)"
                                + " stops the work, failure shows the caller by virtual-thread.caller-trace.");
        assertThat(answer.facts().columns()).containsExactly("", "@Async on virtual threads", "@VirtualThread");
        assertThat(answer.right()).isEqualTo(ContextAndCancel.ONLY_VIRTUAL);
    }
}
