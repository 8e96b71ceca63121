package com.acme.weaving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.config.EnableVirtual;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.ref.WeakReference;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.annotation.EnableTransactionManagement;

/** Several applications in one JVM. */
@Timeout(value = 300, threadMode = ThreadMode.SEPARATE_THREAD) // also ends what cannot be interrupted
class ContextsTests extends WovenApplications {

    @Test
    void aBeanUsesTheEngineOfItsContextAndOthersTheOneStartedLast() {
        ConfigurableApplicationContext first = run(Mailing.class, "--virtual-thread.thread-name-prefix=first-");
        ConfigurableApplicationContext second = run(Mailing.class, "--virtual-thread.thread-name-prefix=second-");
        Mailer ofFirst = first.getBean(Mailer.class);
        Mailer ofSecond = second.getBean(Mailer.class);
        Mailer ofNobody = new Mailer();

        assertThat(ofFirst.send().join().getName()).startsWith("first-");
        assertThat(ofSecond.send().join().getName()).startsWith("second-");
        assertThat(ofNobody.send().join().getName()).startsWith("second-");
        assertThat(Mailer.sendStatically().join().getName()).startsWith("second-");

        first.close();

        CompletableFuture<Thread> refused = ofFirst.sendByItself();
        assertThatThrownBy(refused::join)
                .isInstanceOf(CompletionException.class)
                .cause()
                .isInstanceOfSatisfying(LimitExceededException.class, failure -> assertThat(failure.reason())
                        .isEqualTo(Reason.SHUTDOWN));
        assertThat(ofSecond.send().join().getName()).startsWith("second-");
        assertThat(ofNobody.send().join().getName()).startsWith("second-");

        second.close();

        assertThat(ofNobody.send().join()).isSameAs(Thread.currentThread());
    }

    @Test
    void whatAFactoryMakesBelongsToItsContextToo() {
        try (ConfigurableApplicationContext first = run(Making.class, "--virtual-thread.thread-name-prefix=first-");
                ConfigurableApplicationContext second = run(Mailing.class)) {
            assertThat(first.getBean(Mailer.class).send().join().getName()).startsWith("first-");
            assertThat(second.isActive()).isTrue();
        }
    }

    @Test
    void whenTheLastOneIsClosedOthersUseTheOneBefore() {
        try (ConfigurableApplicationContext first = run(Mailing.class, "--virtual-thread.thread-name-prefix=first-")) {
            run(Mailing.class, "--virtual-thread.thread-name-prefix=second-").close();

            assertThat(Mailer.sendStatically().join().getName()).startsWith("first-");
            assertThat(first.isActive()).isTrue();
        }
    }

    @Test
    void aBeanOfAClosedChildGoesOnByTheEngineOfItsParent() {
        Plain.Work work;
        try (ConfigurableApplicationContext parent =
                run(Mailing.class, "--virtual-thread.thread-name-prefix=parent-")) {
            var child = new AnnotationConfigApplicationContext();
            child.setParent(parent);
            child.register(Plain.class);
            child.refresh();
            work = child.getBean(Plain.Work.class);
            assertThat(work.byItself().join().getName()).startsWith("parent-");

            child.close();

            assertThat(work.byItself().join().getName()).startsWith("parent-");
        }
        assertThat(work.byItself()).isCompletedExceptionally();
    }

    @Test
    void nothingOfAClosedContextIsKeptThoughItsBeanLivesOn() throws Exception {
        Mailer bean;
        WeakReference<Object> engine;
        try (ConfigurableApplicationContext context = run(Mailing.class)) {
            bean = context.getBean(Mailer.class);
            bean.send().join();
            engine = new WeakReference<>(context.getBean(TaskEngine.class));
        }

        while (engine.get() != null && !Thread.currentThread().isInterrupted()) {
            System.gc();
        }
        assertThat(engine.get()).isNull();
        assertThat(bean.send()).isCompletedExceptionally();
    }

    @Test
    void inModeProxyAWovenMethodHopsOnceAndCallsWithinAnObjectStay() {
        try (ConfigurableApplicationContext context =
                run(Proxying.class, "--virtual-thread.mode=proxy", "--virtual-thread.limits.mail.permits=1")) {
            Proxied proxied = context.getBean(Proxied.class);

            // a second hop would wait for ever for the only permit
            assertThat(proxied.send().join()).matches(Thread::isVirtual);
            assertThat(Trace.take()).containsExactly("send on vt-Proxied.send");
            assertThat(proxied.sendByItself().join()).isSameAs(Thread.currentThread());
        }
    }

    @Test
    void aContextInModeProxyBesideOneInModeAspectjHopsOnceToo() {
        try (ConfigurableApplicationContext woven = run(Mailing.class);
                ConfigurableApplicationContext context = run(
                        Proxying.class, "--virtual-thread.mode=proxy", "--virtual-thread.thread-name-prefix=proxy-")) {
            Proxied proxied = context.getBean(Proxied.class);

            assertThat(proxied.send().join().getName()).startsWith("proxy-");
            assertThat(Trace.take()).containsExactly("send on proxy-Proxied.send");
            assertThat(proxied.sendByItself().join()).isSameAs(Thread.currentThread());
            assertThat(woven.getBean(Mailer.class).send().join()).matches(Thread::isVirtual);
        }
    }

    @Test
    void withEnabledFalseMethodsRunInPlace() {
        try (ConfigurableApplicationContext context = run(Mailing.class, "--virtual-thread.enabled=false")) {
            assertThat(context.getBean(Mailer.class).sendByItself().join()).isSameAs(Thread.currentThread());
            assertThat(Mailer.sendStatically().join()).isSameAs(Thread.currentThread());
        }
    }

    @Test
    void theAnnotationOfPlainSpringIsEnough() {
        try (var context = new AnnotationConfigApplicationContext(Plain.class)) {
            assertThat(context.getBean(Plain.Work.class).byItself().join()).matches(Thread::isVirtual);
        }
    }

    @Test
    void annotationsOfTheUsersHopUpToTwoStepsAwayOnMethodsAndTypes() {
        try (var context = new AnnotationConfigApplicationContext(Steps.class)) {
            assertThat(context.getBean(Steps.Methods.class).twoStepsAway().join())
                    .matches(Thread::isVirtual);
            assertThat(context.getBean(Steps.OneStep.class).send().join()).matches(Thread::isVirtual);
            assertThat(context.getBean(Steps.TwoSteps.class).send().join()).matches(Thread::isVirtual);
        }
    }

    @Test
    void aWrongMethodOfWhatIsNoBeanFailsItsCall() {
        try (ConfigurableApplicationContext context = run(Mailing.class)) {
            assertThatThrownBy(() -> new Wrong().count())
                    .isInstanceOf(VirtualThreadConfigurationException.class)
                    .hasMessageContaining("Wrong.count returns int");
            assertThat(context.isActive()).isTrue();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableTransactionManagement(mode = AdviceMode.ASPECTJ)
    static class Mailing {

        @Bean
        Mailer mailer() {
            return new Mailer();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableTransactionManagement(mode = AdviceMode.ASPECTJ)
    static class Making {

        @Bean
        MailerFactory mailer() {
            return new MailerFactory();
        }
    }

    static class MailerFactory implements FactoryBean<Mailer> {

        @Override
        public Mailer getObject() {
            return new Mailer();
        }

        @Override
        public Class<?> getObjectType() {
            return Mailer.class;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Proxying {

        @Bean
        Proxied proxied() {
            return new Proxied();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual(mode = AdviceMode.ASPECTJ)
    static class Plain {

        @Bean
        Work work() {
            return new Work();
        }

        static final class Work {

            CompletableFuture<Thread> byItself() {
                return thread();
            }

            @VirtualThread
            private CompletableFuture<Thread> thread() {
                return CompletableFuture.completedFuture(Thread.currentThread());
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual(mode = AdviceMode.ASPECTJ)
    @Import({Steps.Methods.class, Steps.OneStep.class, Steps.TwoSteps.class})
    static class Steps {

        @VirtualThread
        @Retention(RetentionPolicy.RUNTIME)
        @interface First {}

        @First
        @Retention(RetentionPolicy.RUNTIME)
        @interface Second {}

        static class Methods {

            @Second
            CompletableFuture<Thread> twoStepsAway() {
                return CompletableFuture.completedFuture(Thread.currentThread());
            }
        }

        @First
        static class OneStep {

            public CompletableFuture<Thread> send() {
                return CompletableFuture.completedFuture(Thread.currentThread());
            }
        }

        @Second
        static class TwoSteps {

            public CompletableFuture<Thread> send() {
                return CompletableFuture.completedFuture(Thread.currentThread());
            }
        }
    }

    static class Wrong {

        @VirtualThread
        int count() {
            return 1;
        }
    }
}
