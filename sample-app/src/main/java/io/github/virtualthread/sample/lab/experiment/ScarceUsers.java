package io.github.virtualthread.sample.lab.experiment;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** Users who come all at once and ask once. One who waits no longer is a failure for the crowd, and counted besides. */
final class ScarceUsers implements WebUsers.Outcomes {

    /** More than enough with sensible settings. */
    static final Duration LONGEST = Duration.ofMinutes(2);

    private final Crowd crowd;
    private final AtomicInteger timedOut = new AtomicInteger();

    ScarceUsers(Crowd crowd) {
        this.crowd = crowd;
    }

    /** Blocks until all are gone. */
    WebUsers.Spent ask(int port, String path, int users) throws Exception {
        String numbered = path + "&request=";
        return WebUsers.ask(
                new WebUsers.Load(port, numbered, users, Duration.ZERO, Duration.ZERO, users, LONGEST),
                this,
                request -> {});
    }

    @Override
    public void answered(long nanoseconds) {
        crowd.done(nanoseconds);
    }

    @Override
    public void rejected(long nanoseconds) {
        crowd.rejected();
    }

    @Override
    public void failed() {
        crowd.failed();
    }

    @Override
    public void timedOut() {
        timedOut.incrementAndGet();
        crowd.failed();
    }

    int timeOuts() {
        return timedOut.get();
    }
}
