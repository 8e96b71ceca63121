package io.github.virtualthread.sample.lab.experiment;

/** No server at all: H2, in this JVM. */
final class H2Server implements ScarceServer {

    private static final String SLEEP = "create alias if not exists sleep for 'java.lang.Thread.sleep(long)'";

    @Override
    public String url() {
        return "jdbc:h2:mem:scarce;DB_CLOSE_DELAY=-1;INIT=" + SLEEP;
    }

    @Override
    public boolean isInThisJvm() {
        return true;
    }

    /** H2 looks for a cancel between rows. */
    @Override
    public String slowQuery() {
        return "select /* slow */ sleep(1) from system_range(1, 1000 * %d)";
    }

    @Override
    public String running() {
        return "select count(*) from information_schema.sessions where executing_statement like 'select /* slow%'";
    }

    @Override
    public String aboutStops() {
        return "It runs a query on the thread of its caller, so no query goes on without its call, and there is no session to lose."
                + " The query sleeps here, which an interrupt ends. A query that computes takes no notice of an interrupt: it keeps"
                + " its permit until it ends. A database server is needed to see anything.";
    }

    /** It ends with the JVM. */
    @Override
    public void close() {}
}
