package io.github.virtualthread.aop;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import org.slf4j.LoggerFactory;

/** What is logged while it is open, by the thread that opened it: other tests may run beside and log, too. */
final class Logs extends AppenderBase<ILoggingEvent> implements AutoCloseable {

    private final Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();
    private final Predicate<Thread> threads;

    Logs() {
        this(Thread.currentThread()::equals);
    }

    /** By those threads. */
    Logs(Predicate<Thread> threads) {
        this.threads = threads;
        setContext(root.getLoggerContext());
        start();
        root.addAppender(this);
    }

    @Override
    protected void append(ILoggingEvent event) {
        if (threads.test(Thread.currentThread())) {
            events.add(event);
        }
    }

    List<String> messages(Level level) {
        return events.stream()
                .filter(event -> event.getLevel().isGreaterOrEqual(level))
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    List<ILoggingEvent> events() {
        return events;
    }

    @Override
    public void close() {
        root.detachAppender(this);
    }
}
