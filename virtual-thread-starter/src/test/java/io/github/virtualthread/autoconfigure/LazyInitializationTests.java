package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.actuate.VirtualThreadsEndpoint;
import io.github.virtualthread.limit.PermitsSource;
import io.github.virtualthread.limit.TaskLimits;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** With {@code spring.main.lazy-initialization=true}. */
@Timeout(300)
class LazyInitializationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class, VirtualThreadActuatorAutoConfiguration.class))
            .withInitializer(
                    context -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
            .withBean(Shop.class)
            .withBean("clients", PermitsSource.class, () -> () -> 7)
            .withPropertyValues("virtual-thread.thread-name-prefix=lazy-");

    @Test
    void mistakesFailTheStart() {
        runner.run(context -> assertThat(context).getFailure().hasMessageContaining("asks for limit 'db', but"));
    }

    @Test
    void limitsHaveThePermitsOfTheirPoolsAndAreWatchedFromTheStart() {
        runner.withPropertyValues("virtual-thread.limits.db.permits-from=clients")
                .run(context -> {
                    assertThat(context.getBean(TaskLimits.class).get("db").permits())
                            .isEqualTo(7);
                    assertThat(Thread.getAllStackTraces().keySet())
                            .extracting(Thread::getName)
                            .contains("lazy-watch", "lazy-timer");
                });
    }

    @Test
    void theEndpointCountsFromTheFirstCallOn() {
        runner.withPropertyValues("virtual-thread.limits.db.permits=2", "management.endpoints.web.exposure.include=*")
                .run(context -> {
                    context.getBean(Shop.class).price().join();

                    assertThat(context.getBean(VirtualThreadsEndpoint.class)
                                    .overview()
                                    .methods())
                            .singleElement()
                            .satisfies(method -> assertThat(method.done()).isEqualTo(1));
                });
    }

    static class Shop {

        @VirtualThread("db")
        CompletableFuture<Integer> price() {
            return CompletableFuture.completedFuture(1);
        }
    }
}
