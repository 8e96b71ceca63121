package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.config.EnableVirtual;
import io.github.virtualthread.execution.VirtualThreads;
import io.micrometer.context.ContextSnapshotFactory;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.support.ContextPropagatingTaskDecorator;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

/** The decorators that an application has for Spring Boot's executor. */
@Timeout(300)
class TaskDecoratorBeanTests {

    private static final List<String> events = new CopyOnWriteArrayList<>();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class))
            .withUserConfiguration(Decorators.class)
            .withBean(Prices.class);

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void theyAreAppliedInTheirOrderTheFirstInnermost(CapturedOutput output) {
        events.clear();
        runner.run(context -> {
            assertThat(context.getBean(Prices.class).price()).succeedsWithin(2, TimeUnit.MINUTES);
            assertThat(events).containsExactly("outer", "inner", "price");
        });

        assertThat(output).contains("decorated by outer, inner").doesNotContain("inner, propagating");
    }

    @Test
    void callsByHandAndAsyncMethodsUnderALimitHaveThemOnce() {
        runner.withConfiguration(AutoConfigurations.of(VirtualThreadAsyncAutoConfiguration.class))
                .withPropertyValues("virtual-thread.async.limit=none")
                .withUserConfiguration(Asynchronous.class)
                .run(context -> {
                    events.clear();
                    context.getBean(VirtualThreads.class)
                            .submit(() -> events.add("by hand"))
                            .get(2, TimeUnit.MINUTES);
                    assertThat(events).containsExactly("outer", "inner", "by hand");

                    events.clear();
                    assertThat(context.getBean(Mailer.class).send()).succeedsWithin(2, TimeUnit.MINUTES);
                    assertThat(events).containsExactly("outer", "inner", "send");
                });
    }

    @Test
    void oneThatWouldPropagateTheContextAgainIsLeftOut() {
        events.clear();
        runner.run(context -> {
            context.getBean(Prices.class).price().get(2, TimeUnit.MINUTES);

            assertThat(context).hasBean("propagating");
            assertThat(events).doesNotContain("captured");
        });
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void oneThatIsNoDefaultCandidateIsNeitherUsedNorNamed(CapturedOutput output) {
        events.clear();
        runner.withUserConfiguration(Special.class).run(context -> {
            context.getBean(Prices.class).price().get(2, TimeUnit.MINUTES);

            assertThat(context).hasBean("special");
            assertThat(events).containsExactly("outer", "inner", "price");
        });

        assertThat(output).contains("decorated by outer, inner").doesNotContain("special");
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void thoseOfAChildContextAreNeitherUsedNorNamed(CapturedOutput output) {
        try (var parent = new AnnotationConfigApplicationContext(Enabling.class)) {
            String ofParent = output.getAll();
            events.clear();
            try (var child = new AnnotationConfigApplicationContext()) {
                child.setParent(parent);
                child.register(Enabling.class, Decorators.class, Prices.class);
                child.refresh();

                assertThat(child.getBean(Prices.class).price()).succeedsWithin(2, TimeUnit.MINUTES);
                assertThat(events).containsExactly("price");
            }
            assertThat(output.getAll().substring(ofParent.length()))
                    .contains("1 annotated method")
                    .doesNotContain("decorated by");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual
    static class Enabling {}

    /** For an executor of the application that asks for it by name. */
    @Configuration(proxyBeanMethods = false)
    static class Special {

        @Bean(defaultCandidate = false)
        TaskDecorator special() {
            return Decorators.recording("special");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Decorators {

        @Bean
        @Order(2)
        TaskDecorator outer() {
            return recording("outer");
        }

        @Bean
        @Order(1)
        TaskDecorator inner() {
            return recording("inner");
        }

        @Bean
        TaskDecorator propagating() {
            ContextSnapshotFactory snapshots = mock();
            when(snapshots.captureAll()).thenAnswer(call -> {
                events.add("captured");
                return ContextSnapshotFactory.builder().build().captureAll();
            });
            return new ContextPropagatingTaskDecorator(snapshots);
        }

        static TaskDecorator recording(String name) {
            return body -> () -> {
                events.add(name);
                body.run();
            };
        }
    }

    static class Prices {

        @VirtualThread
        CompletableFuture<Boolean> price() {
            return CompletableFuture.completedFuture(events.add("price"));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync(proxyTargetClass = true)
    static class Asynchronous {

        @Bean
        Mailer mailer() {
            return new Mailer();
        }
    }

    static class Mailer {

        @Async
        CompletableFuture<Boolean> send() {
            return CompletableFuture.completedFuture(events.add("send"));
        }
    }
}
