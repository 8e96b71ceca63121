package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.aop.Findings.AdvisedMethod;
import io.github.virtualthread.aop.VirtualThreadBeanPostProcessor;
import io.github.virtualthread.config.EnableVirtual;
import io.github.virtualthread.config.EngineBeans;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aot.generate.GeneratedFiles.Kind;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;

/** Properties, checks and advice of an application that was processed ahead of time are those of its start, not of its build. */
@Timeout(300)
@Tag("slow")
class AheadOfTimeTests extends GeneratedApplications {

    private static final Map<String, Object> OFF =
            Map.of("virtual-thread.limits.db.permits", "2", "virtual-thread.enabled", "false");

    @Test
    void generatedCodeNamesAnAnnotationThatItMayNotSee() throws Exception {
        assertThat(processed(OwnEnableVirtual.class, LIMITS)
                        .getGeneratedFiles()
                        .getGeneratedFileContent(
                                Kind.SOURCE,
                                VirtualThreadBeanPostProcessor.class.getName().replace('.', '/')
                                        + "__BeanDefinitions.java"))
                .contains("\"annotationType\", \"" + InBackground.class.getName() + "\"");
    }

    @CompiledTest
    void propertiesAreThoseOfTheStartAndNotOfTheBuild() {
        Map<String, Object> properties = Map.of(
                "virtual-thread.limits.db.permits", "7",
                "virtual-thread.limits.report.permits", "3",
                "virtual-thread.limits.report.within", "db",
                "virtual-thread.limits.report.permits-per-key", "2",
                "virtual-thread.limits.report.queue-capacity-per-key", "5");
        started(Shop.class, LIMITS, properties, context -> {
            assertThat(context.getBean(TaskLimits.class).get("db").permits()).isEqualTo(7);
            assertThat(context.getBean(TaskLimits.class).get("report"))
                    .hasToString(
                            "report (3 permits, 2 per key, within db, unbounded queue, 5 per key, unbounded wait)");
            assertThat(context.getBean(Mailer.class).send().join()).startsWith("vt-Mailer.send-");
        });
    }

    @CompiledTest
    void keysAreRead() {
        started(Shop.class, LIMITS, LIMITS, context -> assertThat(context.getBean(Mailer.class)
                        .running("acme", context.getBean(TaskLimits.class))
                        .join())
                .isEqualTo(1));
    }

    @CompiledTest
    void mistakesInKeysFailTheStart() {
        assertThatThrownBy(() -> started(Misspelt.class, LIMITS, LIMITS, context -> {}))
                .isInstanceOf(VirtualThreadConfigurationException.class)
                .hasMessageContaining("uses #tenat, but the parameters are [tenant]");
    }

    @CompiledTest
    void interceptionIsSwitchedOffAtTheStart() {
        String here = Thread.currentThread().getName();

        started(Shop.class, LIMITS, OFF, context -> assertThat(
                        context.getBean(Mailer.class).send().join())
                .isEqualTo(here));
    }

    @CompiledTest
    void interceptionIsSwitchedOnAtTheStart() {
        started(Shop.class, OFF, LIMITS, context -> assertThat(
                        context.getBean(Mailer.class).send().join())
                .startsWith("vt-"));
    }

    @CompiledTest
    void mistakesFailTheStart() {
        assertThatThrownBy(() -> started(Shop.class, LIMITS, Map.of(), context -> {}))
                .isInstanceOf(VirtualThreadConfigurationException.class)
                .hasMessageContaining("Mailer.send asks for limit 'db'");
    }

    @CompiledTest
    void wrongPropertiesFailTheStart() {
        assertThatThrownBy(() ->
                        started(Shop.class, LIMITS, Map.of("virtual-thread.limits.db.permits", "two"), context -> {}))
                .isInstanceOf(VirtualThreadConfigurationException.class)
                .hasMessageStartingWith("virtual-thread.limits.db.permits must be a whole number");
    }

    @Test
    void wrongPropertiesDoNotFailTheBuild() {
        processed(Shop.class, Map.of("virtual-thread.limits.db.permits", "${db.permits}"));
    }

    @CompiledTest
    void theApplicationsOwnEnableVirtualKeepsItsAttributes() {
        started(OwnEnableVirtual.class, LIMITS, LIMITS, context -> {
            assertThat(context.getBean(Printer.class).print().join()).startsWith("vt-Printer.print-");
            assertThat(context.getBean(VirtualThreadBeanPostProcessor.class).getOrder())
                    .isEqualTo(7);
        });
    }

    @CompiledTest
    void scopedBeansAreCheckedOnceAndAdvised() {
        started(Scoped.class, LIMITS, LIMITS, context -> {
            assertThat(context.getBean(EngineBeans.class).advised())
                    .extracting(AdvisedMethod::name)
                    .containsExactly("Session.permits");
            assertThat(context.getBean(Session.class).permits(context.getBean(TaskLimits.class)))
                    .isEqualTo(1);
        });
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    static class Misspelt {

        @VirtualThread(limit = "db", key = "#tenat")
        void send(String tenant) {}
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    @EnableVirtual(annotation = InBackground.class, order = 7)
    @Import(Printer.class)
    static class OwnEnableVirtual {}

    @Retention(RetentionPolicy.RUNTIME)
    @interface InBackground {}

    static class Printer {

        @InBackground
        CompletableFuture<String> print() {
            return CompletableFuture.completedFuture(Thread.currentThread().getName());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    @Import(Session.class)
    static class Scoped {}

    @Scope(value = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
    static class Session {

        @Limited("db")
        int permits(TaskLimits limits) {
            return limits.get("db").available();
        }
    }
}
