package io.github.virtualthread.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.PermitsFrom;
import io.github.virtualthread.limit.PermitsSource;
import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextRefreshedEvent;

/** Pools, and the watch of calls, without Spring Boot. */
@Timeout(300)
class PlainSpringTests {

    private static final Predicate<Thread> WATCH = thread -> thread.getName().equals("plain-watch");

    /** It ends a moment after its context, and the next test must not take it for its own. */
    @AfterEach
    void awaitTheEndOfTheWatch() throws InterruptedException {
        for (Thread watch : threads().filter(WATCH).toList()) {
            assertThat(watch.join(Duration.ofMinutes(2))).isTrue();
        }
    }

    @Test
    void aLimitTakesItsPermitsFromASource() {
        try (var context = new AnnotationConfigApplicationContext(Plain.class)) {
            assertThat(context.getBean(TaskLimits.class).get("partner").permits())
                    .isEqualTo(7);
        }
    }

    @Test
    void callsAreWatchedFromTheStartToTheStop() throws InterruptedException {
        try (var context = new AnnotationConfigApplicationContext()) {
            context.register(Plain.class);
            assertThat(threads()).noneMatch(WATCH);

            context.refresh();
            Thread watch = watch();
            context.stop();

            watch.join();
        }
    }

    @Test
    void nothingGoesOnWhereTheContextFailsAfterItsStart() throws InterruptedException {
        Thread[] watch = new Thread[1];
        ApplicationListener<ContextRefreshedEvent> broken = event -> {
            watch[0] = watch();
            throw new IllegalStateException("broken listener");
        };
        try (var context = new AnnotationConfigApplicationContext()) {
            context.register(Plain.class);
            context.addApplicationListener(broken);

            assertThatThrownBy(context::refresh).hasMessage("broken listener");

            watch[0].join();
        }
    }

    private static Thread watch() {
        return threads().filter(WATCH).findFirst().orElseThrow();
    }

    private static Stream<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual
    static class Plain {

        @Bean
        EngineSettings settings() {
            EngineSettings defaults = EngineSettings.DEFAULTS;
            return new EngineSettings(
                    defaults.methods(),
                    "plain-",
                    defaults.mdc(),
                    defaults.mdcKeys(),
                    defaults.registeredContext(),
                    defaults.awaitTermination(),
                    defaults.selfInvocation(),
                    defaults.callerTrace(),
                    defaults.saturatedAfter(),
                    defaults.stuckAfter(),
                    defaults.cluster(),
                    defaults.limits(),
                    defaults.mistakes());
        }

        @Bean
        LimitSettings partner() {
            return LimitSettings.of("partner", 1).withPermitsFrom(new PermitsFrom("clients", 0));
        }

        @Bean
        PermitsSource clients() {
            return () -> 7;
        }
    }
}
