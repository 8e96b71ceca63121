package com.acme.shop;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/** What is logged as an ERROR, from the start of an application on: that resets the log. */
final class Errors extends AppenderBase<ILoggingEvent> {

    private final List<String> errors = new CopyOnWriteArrayList<>();

    static Errors collect() {
        Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        Errors errors = new Errors();
        errors.setContext(root.getLoggerContext());
        errors.start();
        root.addAppender(errors);
        return errors;
    }

    @Override
    protected void append(ILoggingEvent event) {
        if (event.getLevel().isGreaterOrEqual(Level.ERROR)) {
            errors.add(event.getLoggerName() + ": " + event.getFormattedMessage());
        }
    }

    void assertNone() {
        assertThat(errors).isEmpty();
    }
}
