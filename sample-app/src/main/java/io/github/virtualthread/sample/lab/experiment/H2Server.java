package io.github.virtualthread.sample.lab.experiment;

/** No server at all: H2, in this JVM. */
final class H2Server implements ScarceServer {

    private static final String SLEEP = "create alias if not exists sleep for 'java.lang.Thread.sleep(long)'";

    @Override
    public String url() {
        return "jdbc:h2:mem:scarce;DB_CLOSE_DELAY=-1;INIT=" + SLEEP;
    }

    /** It ends with the JVM. */
    @Override
    public void close() {}
}
