package io.github.virtualthread.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Timeout(300)
class LimitChangeLogTests {

    private final Logger logger = (Logger) LoggerFactory.getLogger(TaskLimits.class);
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @BeforeEach
    void open() {
        log.start();
        logger.addAppender(log);
    }

    @AfterEach
    void close() {
        logger.detachAppender(log);
    }

    @Test
    void aChangedLimitIsOneLineOfTheLog() {
        try (var context = new AnnotationConfigApplicationContext(Plain.class)) {
            TaskLimit limit = context.getBean(TaskLimits.class).get("db");

            limit.resize(3);
            assertThatIllegalArgumentException().isThrownBy(() -> limit.resize(0));
            assertThat(log.list).isEmpty();
            limit.resize(5);

            assertThat(log.list).singleElement().satisfies(event -> {
                assertThat(event.getLevel()).isEqualTo(Level.INFO);
                assertThat(event.getFormattedMessage())
                        .isEqualTo("Limit 'db' changed by CODE: 3 permits, unbounded queue, unbounded wait"
                                + " -> 5 permits, unbounded queue, unbounded wait");
            });
        }
    }

    @Test
    void aLimitThatIsStillOccupiedAtTheEndIsOneWarning() {
        try (var context = new AnnotationConfigApplicationContext(Plain.class)) {
            var unused = context.getBean(TaskLimits.class).get("db").occupy();
        }

        assertThat(log.list).singleElement().satisfies(event -> {
            assertThat(event.getLevel()).isEqualTo(Level.WARN);
            assertThat(event.getFormattedMessage())
                    .isEqualTo(
                            "Limit 'db' is still occupied while the application stops, so calls that wait for it cannot"
                                    + " run. Close what occupy() returned.");
        });
    }

    @Test
    void aLimitThatIsNoLongerOccupiedIsNotReported() {
        try (var context = new AnnotationConfigApplicationContext(Plain.class)) {
            context.getBean(TaskLimits.class).get("db").occupy().close();
        }

        assertThat(log.list).isEmpty();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual
    static class Plain {

        @Bean
        LimitSettings db() {
            return LimitSettings.of("db", 3);
        }
    }
}
