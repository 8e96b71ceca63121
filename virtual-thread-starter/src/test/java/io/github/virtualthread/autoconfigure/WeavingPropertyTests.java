package io.github.virtualthread.autoconfigure;

import static io.github.virtualthread.autoconfigure.Contexts.mistakes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.config.EnableVirtual;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/** The checks of mode ASPECTJ that need no weaver. What needs one is in src/it/weaving. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class WeavingPropertyTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class));
    private final ApplicationContextRunner weaving = runner.withPropertyValues("virtual-thread.mode=aspectj");

    @Test
    void withoutAWeaverTheStartFailsOnceForAllClasses() {
        weaving.withBean(Mailer.class)
                .withBean(Reports.class)
                .run(context -> assertThat(mistakes(context)).singleElement().satisfies(mistake -> {
                    assertThat(mistake.description()).contains("no class with annotated methods is woven");
                    assertThat(mistake.action())
                            .contains("-javaagent:/path/to/aspectjweaver-<version>.jar", "docs/weaving.md");
                }));
    }

    @Test
    void theOtherSpellingsOfAnEnumAreUnderstoodToo() {
        runner.withBean(Mailer.class)
                .withPropertyValues("virtual-thread.mode=Aspect-J")
                .run(context -> assertThat(mistakes(context)).hasSize(1));
    }

    @Test
    void thePropertyWinsOverAnAnnotationThatSaysNothing() {
        weaving.withBean(Mailer.class)
                .withUserConfiguration(Enabling.class)
                .run(context -> assertThat(mistakes(context)).hasSize(1));
    }

    @Test
    void finalClassesAndPrivateMethodsAreWovenAndNoProxyIsMade(CapturedOutput output) {
        weaving.withBean(Woven.class).run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(AopUtils.isAopProxy(context.getBean(Woven.class))).isFalse();
            assertThat(output).contains("2 annotated methods").doesNotContain("on its own object");
        });
    }

    @Test
    void otherMistakesAreFoundAsInModeProxy() {
        weaving.withBean(Counter.class).run(context -> assertThat(mistakes(context))
                .extracting(Mistake::description)
                .anyMatch(description -> description.contains("Counter.count returns int"))
                .anyMatch(description -> description.contains("asks for limit 'none-such'")));
    }

    @Test
    void aBeanThatIsKnownByItsInterfaceAloneIsLookedAtWhenItIsCreated() {
        weaving.withUserConfiguration(ByInterface.class).run(context -> {
            assertThat(context).hasNotFailed();
            assertThatThrownBy(() -> context.getBean(Sending.class))
                    .rootCause()
                    .hasMessageContaining("LazySender.send gets @VirtualThread from an interface or a superclass");
        });
    }

    @Test
    void aBeanMethodIsNotSaidToBeUnwoven() {
        weaving.withUserConfiguration(OnBeanMethod.class).run(context -> assertThat(mistakes(context))
                .singleElement()
                .extracting(Mistake::description)
                .asString()
                .contains("OnBeanMethod.text", "@Bean"));
    }

    @Test
    void whereNothingIsInterceptedNoWeaverIsNeeded() {
        weaving.withBean(Mailer.class)
                .withPropertyValues("virtual-thread.enabled=false")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context.getBean(Mailer.class).send().join()).isSameAs(Thread.currentThread());
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"woven", "${no.such.key}"})
    void aModeThatCannotBeReadIsAMistake(String mode) {
        runner.withBean(Mailer.class)
                .withPropertyValues("virtual-thread.mode=" + mode)
                .run(context -> assertThat(context.getStartupFailure())
                        .isInstanceOf(VirtualThreadConfigurationException.class)
                        .hasMessageStartingWith(
                                "virtual-thread.mode must be one of [proxy, aspectj], was '" + mode + "'"));
    }

    @Test
    void aBlankModeIsNotSet() {
        runner.withBean(Mailer.class).withPropertyValues("virtual-thread.mode=").run(context -> assertThat(
                        context.getBean(Mailer.class).send().join())
                .matches(Thread::isVirtual));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual
    static class Enabling {}

    interface Sending {

        @VirtualThread
        void send();
    }

    static class LazySender implements Sending {

        @Override
        public void send() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class ByInterface {

        @Bean
        @Lazy
        Sending sending() {
            return new LazySender();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OnBeanMethod {

        @Bean
        @VirtualThread
        CompletableFuture<String> text() {
            return CompletableFuture.completedFuture("text");
        }
    }

    static class Mailer {

        @VirtualThread
        CompletableFuture<Thread> send() {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }
    }

    static class Reports {

        @VirtualThread
        void write() {}
    }

    static class Counter {

        @VirtualThread
        int count() {
            return 1;
        }

        @VirtualThread("none-such")
        void add() {}
    }

    /** As AspectJ leaves it: the bodies are in static methods. */
    static final class Woven {

        CompletableFuture<Thread> byItself() {
            return send();
        }

        @VirtualThread
        private CompletableFuture<Thread> send() {
            return send_aroundBody0(this);
        }

        private static CompletableFuture<Thread> send_aroundBody0(Woven woven) {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }

        @VirtualThread
        static void clean() {
            clean_aroundBody2();
        }

        private static void clean_aroundBody2() {}
    }
}
