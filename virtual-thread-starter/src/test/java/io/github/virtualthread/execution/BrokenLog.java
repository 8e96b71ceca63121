package io.github.virtualthread.execution;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** Whatever one class logs, at any level, fails, until this is closed. Logback itself contains exceptions, but no errors. */
public final class BrokenLog extends AppenderBase<ILoggingEvent> implements AutoCloseable {

    private final Logger logger;
    private final @Nullable Level level;
    private final AtomicInteger strikes = new AtomicInteger();

    /** Breaks the log of a class. */
    public BrokenLog(Class<?> source) {
        logger = (Logger) LoggerFactory.getLogger(source);
        level = logger.getLevel();
        logger.setLevel(Level.DEBUG);
        start();
        logger.addAppender(this);
    }

    @Override
    protected void append(ILoggingEvent event) {
        strikes.incrementAndGet();
        throw new AssertionError("broken log");
    }

    /** How many lines have failed. */
    public int strikes() {
        return strikes.get();
    }

    @Override
    public void close() {
        logger.detachAppender(this);
        logger.setLevel(level);
        stop();
    }
}
