package com.acme.compiled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.util.ClassUtils;

/** Classes of src/main are woven, those of src/test are not. */
@Timeout(value = 300, threadMode = ThreadMode.SEPARATE_THREAD) // also ends what cannot be interrupted
class CompiledTests {

    @Test
    void itRunsOnTheSpringBootAndTheJavaThatWereAskedFor() {
        assertThat(SpringBootVersion.getVersion()).isEqualTo(System.getProperty("expected.spring-boot"));
        String java = System.getProperty("expected.java");
        if (java == null || java.isBlank()) {
            assertThat(Runtime.version().feature()).isGreaterThanOrEqualTo(21);
        } else {
            assertThat(Runtime.version().feature()).hasToString(java);
        }
    }

    @Test
    void noWeaverIsThereAtRunTime() {
        assertThat(ManagementFactory.getRuntimeMXBean().getInputArguments())
                .noneMatch(argument -> argument.startsWith("-javaagent"));
        assertThat(ClassUtils.isPresent("org.aspectj.weaver.loadtime.Agent", null))
                .isFalse();
    }

    @Test
    void callsWithinOneObjectAndPrivateMethodsHop() {
        try (ConfigurableApplicationContext context = SpringApplication.run(CompiledApplication.class)) {
            Mailer mailer = context.getBean(Mailer.class);

            assertThat(mailer.sendByItself().join()).matches(Thread::isVirtual);
            assertThat(mailer.sendPrivately().join().getName()).startsWith("vt-Mailer.secretly-");
            assertThat(mailer.limited()).isSameAs(Thread.currentThread());
        }
    }

    @Test
    void aClassThatIsNotWovenFailsTheStart() {
        assertThatThrownBy(() -> new SpringApplicationBuilder(WithUnwoven.class)
                        .web(WebApplicationType.NONE)
                        .run())
                .isInstanceOf(VirtualThreadConfigurationException.class)
                .hasMessageContaining("Unwoven has methods with @VirtualThread, but is not woven")
                .hasMessageContaining("At compile time, weave the module that contains it")
                .hasMessageNotContaining("Mailer");
    }

    @Configuration(proxyBeanMethods = false)
    @Import(CompiledApplication.class)
    static class WithUnwoven {

        @Bean
        Unwoven unwoven() {
            return new Unwoven();
        }
    }

    static class Unwoven {

        @VirtualThread
        void run() {}
    }
}
