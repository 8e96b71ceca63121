package io.github.virtualthread.execution;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.slf4j.LoggerFactory;

/** What one class logs at WARN and above, or at another level, from whatever thread, until the end of the test; tests can wait for it. */
public final class QueueAppender extends AppenderBase<ILoggingEvent> implements AfterEachCallback {

    public final BlockingQueue<ILoggingEvent> events = new LinkedBlockingQueue<>();
    private final Logger logger;
    private final Level level;

    QueueAppender(Class<?> source) {
        this(source, Level.WARN);
    }

    public QueueAppender(Class<?> source, Level level) {
        this.level = level;
        logger = (Logger) LoggerFactory.getLogger(source);
        start();
        logger.addAppender(this);
    }

    /** The next event, null if none comes. */
    @Nullable
    public ILoggingEvent next() throws InterruptedException {
        return events.poll(2, TimeUnit.MINUTES);
    }

    @Override
    protected void append(ILoggingEvent event) {
        if (event.getLevel().isGreaterOrEqual(level)) {
            events.add(event);
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        logger.detachAppender(this);
        stop();
    }
}
