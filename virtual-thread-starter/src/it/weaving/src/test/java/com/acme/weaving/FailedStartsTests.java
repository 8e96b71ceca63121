package com.acme.weaving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.config.EnableVirtual;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.concurrent.CompletableFuture;
import org.example.NotWoven;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.annotation.EnableTransactionManagement;

/** What fails the start of a woven application. */
@Timeout(value = 300, threadMode = ThreadMode.SEPARATE_THREAD) // also ends what cannot be interrupted
class FailedStartsTests extends WovenApplications {

    @Test
    void aTransactionByProxyAroundAWovenMethodFailsTheStart() {
        assertThatThrownBy(() -> run(ProxiedTransactions.class))
                .isInstanceOfSatisfying(
                        VirtualThreadConfigurationException.class, failure -> assertThat(failure.mistakes())
                                .singleElement()
                                .satisfies(mistake -> {
                                    assertThat(mistake.description())
                                            .contains("Advised.inTransaction", "TransactionInterceptor", "is woven");
                                    assertThat(mistake.action()).contains("Weave that advice too");
                                }));
    }

    @Test
    void anAnnotationThatOnlyTheInterfaceHasFailsTheStart() {
        assertThatThrownBy(() -> run(OnInterface.class))
                .isInstanceOf(VirtualThreadConfigurationException.class)
                .hasMessageContaining("ByInterface.send gets @VirtualThread from an interface or a superclass")
                .hasMessageContaining("Put @VirtualThread on the method of the class too");
    }

    @Test
    void aClassThatTheWeaverLeavesOutFailsTheStart() {
        assertThatThrownBy(() -> run(LeftOut.class))
                .isInstanceOf(VirtualThreadConfigurationException.class)
                .hasMessageContaining("org.example.NotWoven has methods with @VirtualThread, but is not woven");
    }

    @Test
    void anAnnotationThatTheAspectDoesNotKnowFailsTheStart() {
        assertThatThrownBy(() -> new AnnotationConfigApplicationContext(Unknown.class))
                .isInstanceOf(VirtualThreadConfigurationException.class)
                .hasMessageContaining("it is not annotated with @VirtualThread")
                .hasMessageContaining("Put @VirtualThread on Unmarked");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableTransactionManagement
    static class ProxiedTransactions {

        @Bean
        Advised advised() {
            return new Advised();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class OnInterface {

        @Bean
        ByInterface byInterface() {
            return new ByInterface();
        }
    }

    interface AnnotatedSends {

        @VirtualThread
        CompletableFuture<Thread> send();
    }

    static class ByInterface implements AnnotatedSends {

        @Override
        public CompletableFuture<Thread> send() {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class LeftOut {

        @Bean
        NotWoven notWoven() {
            return new NotWoven();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual(mode = AdviceMode.ASPECTJ, annotation = Unmarked.class)
    static class Unknown {

        @Bean
        Marked marked() {
            return new Marked();
        }
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface Unmarked {}

    static class Marked {

        @Unmarked
        public void run() {}
    }
}
