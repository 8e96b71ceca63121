package io.github.virtualthread.autoconfigure;

import static io.github.virtualthread.autoconfigure.Contexts.mistakes;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.mistake.Mistake;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class SelfInvocationPropertyTests {

    private static final String CALL = Mailer.class.getName() + ".sendAll(SelfInvocationPropertyTests.java:";

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class))
            .withBean(Mailer.class);

    @ParameterizedTest
    @ValueSource(
            strings = {
                "spring.application.name=shop",
                "virtual-thread.self-invocation=warn",
                "virtual-thread.self-invocation="
            })
    void aCallThatTheProxyCannotSeeIsOneWarning(String property, CapturedOutput output) {
        runner.withPropertyValues(property).run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .containsOnlyOnce(CALL)
                .containsPattern("WARN .*" + "calls .*Mailer\\.send on its own object");
    }

    @Test
    void theStartFailsTogetherWithAllOtherMistakes() {
        runner.withPropertyValues("virtual-thread.self-invocation=fail", "virtual-thread.limits.db.permits=0")
                .run(context -> assertThat(mistakes(context))
                        .extracting(Mistake::description)
                        .hasSize(2)
                        .anyMatch(description -> description.startsWith(CALL)));
    }

    @Test
    void nothingIsSaidWhereThatIsAskedFor(CapturedOutput output) {
        runner.withPropertyValues("virtual-thread.self-invocation=ignore")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).doesNotContain("on its own object");
    }

    @Test
    void nothingIsSaidWhereNothingIsIntercepted(CapturedOutput output) {
        runner.withPropertyValues("virtual-thread.enabled=false", "virtual-thread.self-invocation=fail")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).doesNotContain("on its own object");
    }

    @Test
    void callsThroughTheOwnProxyAreRight(CapturedOutput output) {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class))
                .withPropertyValues("virtual-thread.self-invocation=fail")
                .withBean(ByProxy.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context.getBean(ByProxy.class).sendAll().join().isVirtual())
                            .isTrue();
                });

        assertThat(output).doesNotContain("on its own object");
    }

    static class Mailer {

        @VirtualThread
        public void send() {}

        public void sendAll() {
            send();
        }
    }

    static class ByProxy {

        private final ObjectProvider<ByProxy> self;

        ByProxy(ObjectProvider<ByProxy> self) {
            this.self = self;
        }

        @VirtualThread
        public CompletableFuture<Thread> send() {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }

        public CompletableFuture<Thread> sendAll() {
            return self.getObject().send();
        }
    }
}
