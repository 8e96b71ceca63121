package io.github.virtualthread.execution;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** Whatever one class logs, at any level, fails, until this is closed. Logback itself contains exceptions, but no errors. */
final class BrokenLog extends AppenderBase<ILoggingEvent> implements AutoCloseable {

    private final Logger logger;
    private final @Nullable Level level;

    BrokenLog(Class<?> source) {
        logger = (Logger) LoggerFactory.getLogger(source);
        level = logger.getLevel();
        logger.setLevel(Level.DEBUG);
        start();
        logger.addAppender(this);
    }

    @Override
    protected void append(ILoggingEvent event) {
        throw new AssertionError("broken log");
    }

    @Override
    public void close() {
        logger.detachAppender(this);
        logger.setLevel(level);
        stop();
    }
}
