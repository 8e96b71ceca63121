package io.github.virtualthread.sample.lab.experiment;

import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.stereotype.Component;

/**
 * A database server of its own for the experiments that H2 cannot show: that of the profile, otherwise an embedded PostgreSQL, which starts
 * with the first run. Where that does not start, there is H2 alone.
 */
@Component
class RealServer implements DisposableBean {

    private final ScarceServer scarce;
    private final String product;
    private final Supplier<ScarceServer> start;
    private final Lock lock = new ReentrantLock();
    private ScarceServer started;
    private volatile String missing = "";

    @Autowired
    RealServer(ScarceServer scarce) {
        this(scarce, PostgresServer::start);
    }

    RealServer(ScarceServer scarce, Supplier<ScarceServer> start) {
        this.scarce = scarce;
        this.product = scarce.product();
        this.start = start;
    }

    /** Starts it where that is still to be done; gives H2 where it does not start. */
    ScarceServer get() throws InterruptedException {
        if (!scarce.isInThisJvm()) {
            return scarce;
        }
        lock.lockInterruptibly();
        try {
            if (started == null && missing.isEmpty()) {
                started = start.get();
            }
        } catch (RuntimeException failure) {
            if (Thread.interrupted()) {
                throw new InterruptedException("Cancelled while the server started");
            }
            missing = NestedExceptionUtils.getMostSpecificCause(failure).toString();
        } finally {
            lock.unlock();
        }
        return started == null ? scarce : started;
    }

    /** What it is, for who has not run it yet. */
    String announced() {
        if (!scarce.isInThisJvm()) {
            return "The database is %s.".formatted(product);
        }
        return missing.isEmpty()
                ? "The database is an embedded PostgreSQL; where it does not start, there is no verdict."
                : "PostgreSQL does not start here (%s). On H2 there is no verdict, because no query goes on without its call."
                        .formatted(missing);
    }

    @Override
    public void destroy() {
        lock.lock();
        try {
            if (started != null) {
                started.close();
            }
        } finally {
            lock.unlock();
        }
    }
}
