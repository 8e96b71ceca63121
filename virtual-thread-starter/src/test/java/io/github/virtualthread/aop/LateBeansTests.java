package io.github.virtualthread.aop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;

/** Beans whose class is known only when they are created. */
@Timeout(300)
class LateBeansTests {

    @Test
    void nothingIsThrownBeforeTheCheckWhateverCannotBeAdvised() {
        try (TestContext context = TestContext.of(FinalMailer.class, SealedMailer.class, Misspelt.class)) {
            assertThat(AopUtils.isAopProxy(context.getBean(FinalMailer.class))).isFalse();
            assertThat(AopUtils.isAopProxy(context.getBean(SealedMailer.class))).isFalse();
            assertThat(context.check().mistakes()).hasSize(3);
        }
    }

    @Test
    void aBeanThatOnlyItsCreationRevealsFailsItselfAfterTheCheck() {
        try (TestContext context = TestContext.of(LateBeans.class)) {
            assertThat(context.check().mistakes()).isEmpty();

            for (String name : new String[] {"behindInterface", "fromFactory"}) {
                Throwable failure = catchThrowable(() -> context.getBean(name));
                assertThat(failure).as(name).isInstanceOf(BeanCreationException.class);
                assertThat(failure.getCause())
                        .isInstanceOf(VirtualThreadConfigurationException.class)
                        .hasMessageContaining(Misspelt.class.getName() + ".run asks for limit 'mial'")
                        .hasMessageContaining("Did you mean 'mail'?");
            }
            Throwable unproxied = catchThrowable(() -> context.getBean("finalBehindInterface"));
            assertThat(unproxied)
                    .hasStackTraceContaining("FinalRunner has methods with @VirtualThread, but cannot be proxied,"
                            + " because it is final");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class LateBeans {
        @Bean
        @Lazy
        Runnable behindInterface() {
            return new Misspelt();
        }

        @Bean
        @Lazy
        FactoryBean<?> fromFactory() {
            return new FactoryBean<>() {
                @Override
                public Object getObject() {
                    return new Misspelt();
                }

                @Override
                public Class<?> getObjectType() {
                    return null;
                }
            };
        }

        @Bean
        @Lazy
        Runnable finalBehindInterface() {
            return new FinalRunner();
        }
    }

    @Test
    void aGoodBeanBehindAnInterfaceIsAdvisedAfterTheCheck() throws Exception {
        try (TestContext context = TestContext.of(LateSender.class)) {
            context.check();

            assertThat(context.getBean(Sender.class).send().get(120, SECONDS).getName())
                    .startsWith("vt-OpenSender.send");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class LateSender {
        @Bean
        @Lazy
        Sender sender() {
            return new OpenSender();
        }
    }

    @Test
    void whatOnlyTheClassBehindATypeCanTellIsNoMistakeBeforeItIsThere() throws Exception {
        try (TestContext context = TestContext.of(LateClasses.class)) {
            assertThat(context.check().mistakes()).isEmpty();

            assertThat(((CompletableFuture<?>) context.getBean(Step.class).run()).get(120, SECONDS))
                    .isNotSameAs(Thread.currentThread());
            assertThat(context.getBean(Outlet.class).print().get(120, SECONDS)).isNotSameAs(Thread.currentThread());
            assertThat(catchThrowable(() -> context.getBean("wrong")))
                    .hasStackTraceContaining("WrongStep.run returns java.lang.String");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class LateClasses {
        @Bean
        @Lazy
        @Primary
        Step<CompletableFuture<Thread>> right() {
            return new RightStep();
        }

        @Bean
        @Lazy
        Step<String> wrong() {
            return new WrongStep();
        }

        @Bean
        @Lazy
        Outlet outlet() {
            return new Printer();
        }
    }

    interface Step<R> {
        @VirtualThread
        R run();
    }

    static class RightStep implements Step<CompletableFuture<Thread>> {
        @Override
        public CompletableFuture<Thread> run() {
            return completedFuture(Thread.currentThread());
        }
    }

    static class WrongStep implements Step<String> {
        @Override
        public String run() {
            return "";
        }
    }

    abstract static sealed class Outlet {
        @VirtualThread
        CompletableFuture<Thread> print() {
            return completedFuture(Thread.currentThread());
        }
    }

    static non-sealed class Printer extends Outlet {}

    interface Sender {
        @VirtualThread
        CompletableFuture<Thread> send();
    }

    static class OpenSender implements Sender {
        @Override
        public CompletableFuture<Thread> send() {
            return completedFuture(Thread.currentThread());
        }
    }

    static final class FinalMailer {
        @VirtualThread
        void send() {}
    }

    static sealed class SealedMailer {
        @VirtualThread
        void send() {}
    }

    static final class OnlySubclass extends SealedMailer {}

    static class Misspelt implements Runnable {
        @Override
        @VirtualThread("mial")
        public void run() {}
    }

    static final class FinalRunner implements Runnable {
        @Override
        @VirtualThread
        public void run() {}
    }
}
